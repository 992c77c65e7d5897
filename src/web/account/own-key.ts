import { GatehouseProblem } from '../../client/api/problem.js';
import type { DeviceKey } from '../../client/crypto/device-key.js';
import { OtherAccountKey } from '../../client/crypto/key-text.js';
import { clientFor } from '../server.js';

/** The server knows whose a key is. Rejects with OtherAccountKey where it is of another account. */
export async function requireOwnKey(key: DeviceKey, accountId: string): Promise<void> {
  const login = await clientFor()
    .logIn(key)
    .catch((error: unknown) => {
      if (error instanceof GatehouseProblem && error.code === 'not-found') {
        return null;
      }
      throw error;
    });
  if (login !== null) {
    await clientFor(login.token).logOut();
  }
  if (login?.accountId !== accountId) {
    throw new OtherAccountKey();
  }
}
