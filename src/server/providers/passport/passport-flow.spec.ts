import passport from 'passport';
import { authorizationRequest } from '../../../../test/fixtures/provider-settings-fixture.js';
import { ProviderError } from '../identity-provider.js';
import { PassportFlow, type StrategyOptions, type StrategyRequest } from './passport-flow.js';

type Act = (
  strategy: passport.StrategyCreatedStatic,
  request: StrategyRequest,
  options: StrategyOptions,
) => void;

class OtherStrategy extends passport.Strategy {
  constructor(private readonly act: Act) {
    super();
  }

  override authenticate(request: object, options?: object): void {
    // Passport adds the actions when it runs the strategy.
    const actions = this as unknown as passport.StrategyCreatedStatic;
    this.act(actions, request as StrategyRequest, options as StrategyOptions);
  }
}

const flowOf = (act: Act): PassportFlow => new PassportFlow('other', new OtherStrategy(act));
const CALLBACK = new URL('https://gatehouse.example/callback?code=c&state=s');

describe(PassportFlow, () => {
  it('uses the redirect of a strategy as the authorization address', async () => {
    const flow = flowOf((strategy, request, { state, callbackURL, callback }) => {
      expect({ query: request.query, callback }).toEqual({ query: {}, callback: null });
      strategy.redirect(`https://idp.example/authorize?state=${state}&to=${callbackURL}`);
    });
    const request = authorizationRequest();
    const url = await flow.authorizationUrl(request);
    expect(url.searchParams.get('state')).toBe(request.state);
    expect(url.searchParams.get('to')).toBe(request.redirectUri);
  });

  it('uses the user of a strategy for the exchange', async () => {
    const exchange = { profile: { subject: 's' }, credentials: null };
    const flow = flowOf((strategy, { query }) => {
      expect(query).toEqual({ code: 'c', state: 's' });
      strategy.success(exchange);
    });
    expect(await flow.exchange(CALLBACK, authorizationRequest())).toBe(exchange);
  });

  it.each<[string, Act, string]>([
    ['fails', (strategy) => strategy.fail(), 'access_denied'],
    [
      'redirects again',
      (strategy) => strategy.redirect('https://idp.example/'),
      'invalid_response',
    ],
    ['errs', (strategy) => strategy.error(new Error('x')), 'invalid_response'],
    [
      'refuses',
      (strategy) => strategy.error(new ProviderError('upstream_error')),
      'upstream_error',
    ],
    ['passes', (strategy) => strategy.pass(), 'access_denied'],
    [
      'throws',
      () => {
        throw new Error('a bug');
      },
      'invalid_response',
    ],
  ])('refuses when a strategy %s', async (_name, act, refusal) => {
    const exchange = flowOf(act).exchange(CALLBACK, authorizationRequest());
    await expect(exchange).rejects.toBeInstanceOf(ProviderError);
    await expect(exchange).rejects.toMatchObject({ refusal });
  });

  it('separates simultaneous authorizations', async () => {
    const flow = flowOf((strategy, _request, { state }) => {
      setImmediate(() => strategy.redirect(`https://idp.example/?state=${state}`));
    });
    const states = Array.from({ length: 20 }, (_, index) => `state-${index}`);
    const urls = await Promise.all(
      states.map((state) => flow.authorizationUrl({ ...authorizationRequest(), state })),
    );
    expect(urls.map((url) => url.searchParams.get('state'))).toEqual(states);
  });
});
