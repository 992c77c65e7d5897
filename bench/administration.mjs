import { createHash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './processes.mjs';

/**
 * Writes the configuration of a Gatehouse with an administration port.
 *
 * @param {{directory: string}} context
 * @param {'read' | 'operate'} role of the one token
 * @returns {Promise<{env: Record<string, string>, origin: string, token: string}>}
 */
export async function administration({ directory }, role) {
  const token = randomBytes(32).toString('base64url');
  const file = join(directory, `admin-tokens-${role}.json`);
  const sha256 = createHash('sha256').update(token).digest('hex');
  await writeFile(file, JSON.stringify([{ name: 'bench', sha256, role }]));
  const port = await freePort();
  return {
    env: {
      ADMIN_PORT: `${port}`,
      ADMIN_TOKENS_FILE: file,
      ADMIN_RATE_LIMIT_PER_MINUTE: '1000000',
    },
    origin: `http://127.0.0.1:${port}`,
    token,
  };
}
