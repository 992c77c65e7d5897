import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A new device key: `publicKey` is base64 of the raw 32 bytes. */
export function makeDeviceKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519', {
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  const raw = publicKey.subarray(-32);
  return { publicKey: raw.toString('base64'), privateKey };
}

/**
 * A body of `POST /v1/auth`, signed beforehand.
 *
 * @param challenge as bytes; by default one of the client's own making, which only a server with
 *   AUTH_REQUIRE_SERVER_CHALLENGE=false takes
 */
export function signedLogin(key, challenge = randomBytes(32)) {
  return {
    publicKey: key.publicKey,
    challenge: challenge.toString('base64'),
    signature: sign(null, challenge, key.privateKey).toString('base64'),
  };
}

/** A body of `POST /v1/auth` over a new challenge of the server. */
export async function challengedLogin(url, key) {
  const { challenge } = await postJson(`${url}/v1/auth/challenge`, {});
  return signedLogin(key, Buffer.from(challenge, 'base64'));
}

/** Signs a new account up. @returns {Promise<{key: object, token: string, accountId: string}>} */
export async function signUp(url) {
  const key = makeDeviceKey();
  const { token, accountId } = await postJson(`${url}/v1/auth`, await challengedLogin(url, key));
  return { key, token, accountId };
}

/** @throws on any answer that is not a success */
export async function postJson(url, body, token) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...bearer(token) },
    body: JSON.stringify(body),
  });
  return readJson(response);
}

/** @throws on any answer that is not a success */
export async function getJson(url, token) {
  return readJson(await fetch(url, { headers: bearer(token) }));
}

/** The header of a bearer token; none without one. */
export function bearer(token) {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

async function readJson(response) {
  const text = await response.text();
  if (!response.ok) {
    throw new Error(`${response.url} answered ${response.status}: ${text}`);
  }
  return JSON.parse(text);
}
