import { returnErrorMessage } from './return-errors.js';

describe(returnErrorMessage.name, () => {
  it('explains an error of the contract', () => {
    expect(returnErrorMessage('access_denied')).toBe('You or the provider denied the request.');
  });

  it.each(['of_a_newer_server', 'toString'])(
    'names an error that it does not know: %s',
    (error) => {
      expect(returnErrorMessage(error)).toBe(`This sign-in was refused (${error}).`);
    },
  );
});
