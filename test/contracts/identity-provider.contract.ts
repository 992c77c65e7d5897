import {
  ProviderError,
  type Exchange,
  type IdentityProvider,
  type Recheck,
} from '../../src/providers/identity-provider.js';
import {
  judgeEligibility,
  type EligibilityRules,
} from '../../src/policy/eligibility/eligibility.js';
import type { Fault } from '../fakes/local-server.js';
import { authorizationRequest, recheckSubject } from '../fakes/provider-settings.js';

/** One provider beside an upstream that can be put into every state the suite is about. */
export interface ProviderHarness {
  readonly provider: IdentityProvider;
  /** The same, for an upstream that never answers: it gives up soon. */
  readonly hasty: IdentityProvider;
  readonly rules: EligibilityRules;
  /** What a browser does with the authorization address. */
  authorize(url: URL): Promise<URL>;
  /** Whether the person at the browser is what the rules ask for. */
  setMembership(state: 'member' | 'none' | 'pending'): void;
  /** The provider takes back what the person gave. */
  revoke(): void;
  /** Every answer to a re-check is this, until it is null again. */
  setFault(fault: Fault | null): void;
  /** Takes away what the asking token needs to see memberships; null where tokens need nothing. */
  readonly disempower: (() => void) | null;
  /** Rotates the keys by which upstream and provider know each other. */
  rotateKeys(): Promise<void>;
  close(): Promise<void>;
}

/** What every identity provider must do (contract, Required providers and offboarding). */
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
      const asked = recheckSubject({ subject, login: facts.login, credentials });
      return provider.recheck(asked, new AbortController().signal);
    }

    function verdictOf(answer: Recheck): string {
      return answer.outcome === 'profile'
        ? judgeEligibility(harness.rules, answer.profile).status
        : answer.outcome;
    }

    it('sends the browser away with state and a PKCE challenge, and never a secret', async () => {
      const request = authorizationRequest();
      const url = await harness.provider.authorizationUrl(request);
      expect(url.searchParams.get('state')).toBe(request.state);
      expect(url.searchParams.get('code_challenge_method')).toBe('S256');
      expect(url.searchParams.get('redirect_uri')).toBe(request.redirectUri);
      expect(url.href).not.toContain(request.codeVerifier);
    });

    it('lets a member in, again and again, as the same subject', async () => {
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

    it.each(['none', 'pending'] as const)('notices that a membership became %s', async (state) => {
      const exchange = await logIn();
      harness.setMembership(state);
      expect(verdictOf(await recheck(exchange))).toBe('ineligible');
    });

    it('does not let a revoked person stay', async () => {
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
    ])('does not know when the answer is: %s', async (fault) => {
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

    it('does not know when a 404 answers a token without power', async () => {
      const exchange = await logIn();
      if (harness.disempower === null) {
        harness.setFault('not-found');
      } else {
        harness.disempower();
        harness.setMembership('none');
      }
      expect(verdictOf(await recheck(exchange))).toBe('unknown');
    });

    it('knows again as soon as the upstream is back', async () => {
      const exchange = await logIn();
      harness.setFault('server-error');
      expect(verdictOf(await recheck(exchange))).toBe('unknown');
      harness.setFault(null);
      expect(verdictOf(await recheck(exchange))).toBe('eligible');
    });

    it('goes on when keys are rotated', async () => {
      const exchange = await logIn();
      await harness.rotateKeys();
      // The first question may find out that the old key is gone.
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

    it('reports what an upstream did at login as an upstream error', async () => {
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
