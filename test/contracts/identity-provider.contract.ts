import {
  ProviderError,
  type Exchange,
  type IdentityProvider,
  type Recheck,
} from '../../src/server/providers/identity-provider.js';
import {
  judgeEligibility,
  type EligibilityRules,
} from '../../src/core/policy/eligibility/eligibility.js';
import type { Fault } from '../helpers/local-server.js';
import { authorizationRequest, recheckSubject } from '../fixtures/provider-settings-fixture.js';

/** A provider with an upstream that supports every state of the suite. */
export interface ProviderHarness {
  readonly provider: IdentityProvider;
  /** The same provider with a short timeout, for an upstream that never answers. */
  readonly hasty: IdentityProvider;
  readonly rules: EligibilityRules;
  authorize(url: URL): Promise<URL>;
  setMembership(state: 'member' | 'none' | 'pending'): void;
  revoke(): void;
  /** Sets the answer to every re-check until it is null again. */
  setFault(fault: Fault | null): void;
  /** Removes the permission of the token to read memberships; null where tokens need none. */
  readonly disempower: (() => void) | null;
  rotateKeys(): Promise<void>;
  close(): Promise<void>;
}

/** The conformance suite of identity providers (contract, Required providers and offboarding). */
export function describeIdentityProvider(
  name: string,
  start: () => Promise<ProviderHarness>,
): void {
  describe(`identity provider: ${name}`, () => {
    let harness: ProviderHarness;

    beforeEach(async () => {
      harness = await start();
      harness.setMembership('member');
    });

    afterEach(() => harness.close());

    async function logIn(): Promise<Exchange> {
      const request = authorizationRequest();
      const url = await harness.provider.authorizationUrl(request);
      return harness.provider.exchange(await harness.authorize(url), request);
    }

    async function recheck(
      { profile, credentials }: Exchange,
      provider: IdentityProvider = harness.provider,
    ): Promise<Recheck> {
      const { subject, facts } = profile;
      const request = recheckSubject({ subject, login: facts.login, credentials });
      return provider.recheck(request, new AbortController().signal);
    }

    function verdictOf(answer: Recheck): string {
      return answer.outcome === 'profile'
        ? judgeEligibility(harness.rules, answer.profile).status
        : answer.outcome;
    }

    it('redirects the browser with state and a PKCE challenge, and never with a secret', async () => {
      const request = authorizationRequest();
      const url = await harness.provider.authorizationUrl(request);
      expect(url.searchParams.get('state')).toBe(request.state);
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      expect(url.searchParams.get('redirect_uri')).toBe(request.redirectUri);
      expect(url.href).not.toContain(request.codeVerifier);
    });

    it('admits a member repeatedly, as the same subject', async () => {
      const first = await logIn();
      expect(judgeEligibility(harness.rules, first.profile).status).toBe('eligible');
      expect((await logIn()).profile.subject).toBe(first.profile.subject);
      const answer = await recheck(first);
      expect(verdictOf(answer)).toBe('eligible');
      expect(answer).toMatchObject({ profile: { subject: first.profile.subject } });
    });

    it.each(['none', 'pending'] as const)(
      'refuses a person whose membership is %s',
      async (state) => {
        harness.setMembership(state);
        const { profile } = await logIn();
        expect(judgeEligibility(harness.rules, profile).status).toBe('ineligible');
      },
    );

    it.each(['none', 'pending'] as const)(
      'ends access when a membership became %s',
      async (state) => {
        const exchange = await logIn();
        harness.setMembership(state);
        expect(verdictOf(await recheck(exchange))).toBe('ineligible');
      },
    );

    it('refuses a revoked person at a re-check', async () => {
      const exchange = await logIn();
      harness.revoke();
      expect(['gone', 'ineligible']).toContain(verdictOf(await recheck(exchange)));
    });

    it.each<Fault>([
      'unauthorized',
      'forbidden',
      'redirect',
      'rate-limited',
      'server-error',
      'html',
      'silence',
      'slow-body',
      'huge-body',
    ])('reports unknown when the answer is: %s', async (fault) => {
      const exchange = await logIn();
      harness.setFault(fault);
      const isEndless = fault === 'silence' || fault === 'slow-body';
      const answer = await recheck(exchange, isEndless ? harness.hasty : harness.provider);
      expect(verdictOf(answer)).toBe('unknown');
      if (fault === 'rate-limited' && 'retryAfterMs' in answer) {
        expect(answer.retryAfterMs).toBeGreaterThan(0);
      }
      harness.setFault(null);
    });

    it('reports unknown when a 404 answers a token without permission', async () => {
      const exchange = await logIn();
      if (harness.disempower === null) {
        harness.setFault('not-found');
      } else {
        harness.disempower();
        harness.setMembership('none');
      }
      expect(verdictOf(await recheck(exchange))).toBe('unknown');
    });

    it('answers again as soon as the upstream is back', async () => {
      const exchange = await logIn();
      harness.setFault('server-error');
      expect(verdictOf(await recheck(exchange))).toBe('unknown');
      harness.setFault(null);
      expect(verdictOf(await recheck(exchange))).toBe('eligible');
    });

    it('continues when keys are rotated', async () => {
      const exchange = await logIn();
      await harness.rotateKeys();
      // The first request may discover that the old key is gone.
      await recheck(exchange);
      expect((await logIn()).profile.subject).toBe(exchange.profile.subject);
    });

    it('refuses an answer for another state, and one without a code', async () => {
      const request = authorizationRequest();
      const url = await harness.provider.authorizationUrl(request);
      const returned = await harness.authorize(url);
      const otherState = { ...request, state: 'another' };
      await expect(harness.provider.exchange(returned, otherState)).rejects.toMatchObject({
        refusal: 'invalid_response',
      });
      returned.searchParams.delete('code');
      await expect(harness.provider.exchange(returned, request)).rejects.toBeInstanceOf(
        ProviderError,
      );
    });

    it('refuses a code the second time, and with another verifier', async () => {
      const request = authorizationRequest();
      const url = await harness.provider.authorizationUrl(request);
      const returned = await harness.authorize(url);
      await harness.provider.exchange(returned, request);
      await expect(harness.provider.exchange(returned, request)).rejects.toMatchObject({
        refusal: 'invalid_response',
      });
      const other = { ...request, codeVerifier: request.codeVerifier.toUpperCase() };
      const again = await harness.authorize(url);
      await expect(harness.provider.exchange(again, other)).rejects.toMatchObject({
        refusal: 'invalid_response',
      });
    });

    it('reports a fault of the upstream at login as an upstream error', async () => {
      const request = authorizationRequest();
      const url = await harness.provider.authorizationUrl(request);
      const returned = await harness.authorize(url);
      harness.setFault('html');
      await expect(harness.provider.exchange(returned, request)).rejects.toMatchObject({
        name: 'ProviderError',
        refusal: 'upstream_error',
      });
    });
  });
}
