import * as oauth from 'oauth4webapi';
import { allow, NotesFixture, openAsNewPerson } from '../../fixtures/mcp/notes-fixture.js';
import { CallbackListener } from '../../fixtures/mcp/program-fixture.js';
import { inChromium, useChromium } from '../../fixtures/programs/browser-fixture.js';
import { INSPECTOR } from '../../fixtures/programs-fixture.js';

const fixture = await NotesFixture.start();
const listener = await CallbackListener.open();
afterAll(async () => {
  listener.close();
  await fixture.close();
});

/** The servers of this spec have no certificates. */
const OPTIONS = { [oauth.allowInsecureRequests]: true };
const CLIENT = { client_id: INSPECTOR.id };
const visit = useChromium();

/** Returns the metadata of the authorization server that the challenge of the resource leads to. */
async function discover(resource: URL): Promise<oauth.AuthorizationServer> {
  const metadata = await oauth.processResourceDiscoveryResponse(
    resource,
    await oauth.resourceDiscoveryRequest(resource, OPTIONS),
  );
  const issuer = new URL(metadata.authorization_servers?.[0] ?? '');
  const answer = await oauth.discoveryRequest(issuer, { ...OPTIONS, algorithm: 'oauth2' });
  return oauth.processDiscoveryResponse(issuer, answer);
}

inChromium('a program made with oauth4webapi, which knows the standards alone', () => {
  it('goes from 401 to the resource, refreshes and ends its access', async () => {
    const resource = new URL(fixture.resource);
    const challenged = await fetch(resource);
    expect(challenged.status).toBe(401);
    const server = await discover(resource);
    const verifier = oauth.generateRandomCodeVerifier();
    const state = oauth.generateRandomState();
    const request = new URL(server.authorization_endpoint ?? '');
    request.search = new URLSearchParams({
      ...CLIENT,
      state,
      response_type: 'code',
      scope: 'notes:read notes:write',
      redirect_uri: listener.url,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      resource: resource.href,
    }).toString();
    const visitor = await openAsNewPerson(visit, request.href);
    await visitor.page.getByLabel('Change your notes').uncheck();
    const answered = listener.next();
    await allow(visitor);
    const parameters = oauth.validateAuthResponse(server, CLIENT, await answered, state);

    const tokens = await oauth.processAuthorizationCodeResponse(
      server,
      CLIENT,
      await oauth.authorizationCodeGrantRequest(
        server,
        CLIENT,
        oauth.None(),
        parameters,
        listener.url,
        verifier,
        { ...OPTIONS, additionalParameters: { resource: resource.href } },
      ),
    );
    expect(tokens).toMatchObject({ token_type: 'bearer', scope: 'notes:read', expires_in: 900 });
    expect(await claimsAt(server, tokens.access_token)).toMatchObject({
      client_id: INSPECTOR.id,
      scope: 'notes:read',
    });

    const refresh = async () =>
      oauth.processRefreshTokenResponse(
        server,
        CLIENT,
        await oauth.refreshTokenGrantRequest(
          server,
          CLIENT,
          oauth.None(),
          tokens.refresh_token ?? '',
          OPTIONS,
        ),
      );
    const refreshed = await refresh();
    expect(await claimsAt(server, refreshed.access_token)).toMatchObject({ scope: 'notes:read' });

    await oauth.processRevocationResponse(
      await oauth.revocationRequest(
        server,
        CLIENT,
        oauth.None(),
        refreshed.refresh_token ?? '',
        OPTIONS,
      ),
    );
    await expect(refresh()).rejects.toMatchObject({ error: 'invalid_grant' });
  });
});

/** Verifies a token by RFC 9068 alone, as a backend without the guard does. */
function claimsAt(server: oauth.AuthorizationServer, token: string) {
  const request = new Request(fixture.resource, { headers: { authorization: `Bearer ${token}` } });
  return oauth.validateJwtAccessToken(server, request, fixture.resource, OPTIONS);
}
