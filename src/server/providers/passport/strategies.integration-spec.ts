import { SignJWT, UnsecuredJWT } from 'jose';
import OpenIDConnectStrategy from 'passport-openidconnect';
import { startLocalServer, type LocalServer } from '../../../../test/helpers/local-server.js';
import {
  authorizationRequest,
  REDIRECT_URI,
} from '../../../../test/fixtures/provider-settings-fixture.js';
import { PassportFlow } from './passport-flow.js';

const ISSUER = 'https://idp.example';
const CLIENT_ID = 'gatehouse';
const REQUEST = authorizationRequest();

type Claims = Record<string, unknown>;
type VerifyCallback = OpenIDConnectStrategy.VerifyCallback;
type StateStore = OpenIDConnectStrategy.SessionStore;

function claims(given: Claims = {}): Claims {
  const now = Math.floor(Date.now() / 1000);
  const { nonce } = REQUEST;
  return { iss: ISSUER, sub: 'alice', aud: CLIENT_ID, iat: now, exp: now + 300, nonce, ...given };
}

const unsigned = (given?: Claims): string => new UnsecuredJWT(claims(given)).encode();

function response(parameters: Record<string, string>): URL {
  const { state } = REQUEST;
  return new URL(`?${new URLSearchParams({ state, ...parameters }).toString()}`, REDIRECT_URI);
}

/** Each test is a reason of ADR 8. One that fails shows that the library changed. */
describe('the strategy of passport-openidconnect, without the changes of this server', () => {
  let provider: LocalServer;
  let tokenRequests: URLSearchParams[];
  let idToken: string;
  let verifiedStates: string[];

  beforeEach(async () => {
    tokenRequests = [];
    verifiedStates = [];
    idToken = unsigned();
    provider = await startLocalServer(({ body }) => {
      tokenRequests.push(new URLSearchParams(body));
      return { status: 200, json: { access_token: 'token', id_token: idToken } };
    });
  });

  afterEach(() => provider.close());

  function exchange(callback: URL): Promise<unknown> {
    const { nonce } = REQUEST;
    const store: Pick<StateStore, 'verify'> = {
      verify: (_request, state, done) => {
        verifiedStates.push(state);
        done(null, { nonce });
      },
    };
    const addresses = { authorizationURL: ISSUER, tokenURL: provider.url, userInfoURL: ISSUER };
    const client = { clientID: CLIENT_ID, clientSecret: 'secret', callbackURL: REDIRECT_URI };
    const strategy = new OpenIDConnectStrategy(
      { issuer: ISSUER, ...addresses, ...client, store: store as StateStore },
      (_issuer: string, { id }: { id: string }, done: VerifyCallback) => done(null, { id }),
    );
    return new PassportFlow('published', strategy).exchange(callback, REQUEST);
  }

  it('accepts an ID token without a signature', async () => {
    expect(await exchange(response({ code: 'c' }))).toEqual({ id: 'alice' });
  });

  it('accepts an ID token that another key signed', async () => {
    const key = new TextEncoder().encode('a key that the provider does not know');
    idToken = await new SignJWT(claims()).setProtectedHeader({ alg: 'HS256' }).sign(key);
    expect(await exchange(response({ code: 'c' }))).toEqual({ id: 'alice' });
  });

  it('exchanges the code of another issuer, without a PKCE verifier', async () => {
    const callback = response({ code: 'c', iss: 'https://evil.example' });
    expect(await exchange(callback)).toEqual({ id: 'alice' });
    expect(tokenRequests.map((request) => [...request.keys()])).toEqual([
      ['grant_type', 'redirect_uri', 'client_id', 'client_secret', 'code'],
    ]);
  });

  it('reads a token response of any size', async () => {
    idToken = unsigned({ padding: 'x'.repeat(4 * 1024 * 1024) });
    expect(await exchange(response({ code: 'c' }))).toEqual({ id: 'alice' });
  });

  it('accepts an error response of another issuer before the state is verified', async () => {
    const callback = response({ error: 'access_denied', iss: 'https://evil.example', state: 'x' });
    await expect(exchange(callback)).rejects.toMatchObject({ refusal: 'access_denied' });
    expect(verifiedStates).toEqual([]);
  });

  it('refuses an ID token that expired within the clock difference between two machines', async () => {
    idToken = unsigned({ exp: Math.floor(Date.now() / 1000) - 5 });
    await expect(exchange(response({ code: 'c' }))).rejects.toMatchObject({
      refusal: 'access_denied',
    });
    expect(verifiedStates).toEqual([REQUEST.state]);
  });
});
