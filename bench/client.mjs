import { call, logIn, makeDeviceKey } from './fixtures.mjs';

/** Sign-ups under way at one time. */
const AT_ONCE = 4;

/** Signs a new account up. @returns {Promise<{key: object, token: string, accountId: string}>} */
export async function signUp(url) {
  const key = makeDeviceKey();
  const { token, accountId } = await logIn({ url }, key);
  return { key, token, accountId };
}

/** Signs new accounts up, each by `one`. */
export async function signUpAll(url, count, one = signUp) {
  const accounts = [];
  let begun = 0;
  const work = async () => {
    while (begun < count) {
      begun += 1;
      accounts.push(await one(url));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return accounts;
}

/** @throws on any answer that is not a success */
export async function request(url, method, path, options) {
  const { status, body, text } = await call({ url }, method, path, options);
  if (status >= 300) {
    throw new Error(`${method} ${path} was answered ${status}: ${text}`);
  }
  return body;
}

/** A request with a form, by default to the token endpoint. */
export function formOf(fields, path = '/v1/oauth/token', headers = {}) {
  return {
    path,
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  };
}

/** The header of a bearer token. */
export function bearer(token) {
  return { authorization: `Bearer ${token}` };
}
