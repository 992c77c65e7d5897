import { answerAddress } from './authorization-request.js';

const ISSUER = 'https://gate.example';
const ADDED = 'code=a%2Bb&state=s+%26&iss=https%3A%2F%2Fgate.example';

describe(answerAddress, () => {
  it.each([
    ['https://app.example/callback', `https://app.example/callback?${ADDED}`],
    ['https://app.example/?to=a%20b&flag', `https://app.example/?to=a%20b&flag&${ADDED}`],
    ['https://app.example/?', `https://app.example/?${ADDED}`],
    ['app.example:/back', `app.example:/back?${ADDED}`],
    ['http://[::1]:5000/ä', `http://[::1]:5000/%C3%A4?${ADDED}`],
  ])('keeps the query of %s', (address, expected) => {
    expect(answerAddress(address, ISSUER, 's &', { code: 'a+b' })).toBe(expected);
  });
});
