import { isRequestId } from '../../../core/protocol/request-id.js';
import { makeRequestId } from './account-requests.js';

describe(makeRequestId.name, () => {
  it('draws ids that no command reads as an option', () => {
    const ids = new Set(Array.from({ length: 2000 }, makeRequestId));
    expect(ids.size).toBe(2000);
    expect([...ids].filter((id) => id.startsWith('-') || !isRequestId(id))).toEqual([]);
  });
});
