import { deepStrictEqual, ok, strictEqual } from 'node:assert';
import { decodeJwt } from 'jose';
import {
  clientToken,
  endedIn,
  type EventStreamFixture,
} from '../../test/fixtures/event-stream-fixture.js';
import { PROGRAMS } from '../../test/fixtures/programs-fixture.js';
import {
  basic,
  exchangeForm,
  postForm,
  type Backends,
} from '../../test/fixtures/resource-server-fixture.js';
import { call, type Target } from '../../test/helpers/client.js';
import { fromSomewhere } from '../../test/helpers/device-calls.js';
import { waitFor } from '../../test/helpers/wait.js';
import type { ModelState } from './itf.js';

/** The backend of every trace. Its tokens outlive the clocks of one. */
export const BACKEND = { id: 'relay', maxTokenSeconds: 900, programs: PROGRAMS };
/** The name of the program in the model. */
export const PROGRAM = 'program';

/** The sessions of one trace at a backend, and that of the program. */
export class ReplayedBackend {
  /** Answers and ends that were compared with the model. */
  compared = 0;
  /** The newest token, by session or program. */
  private readonly tokens = new Map<string, string>();
  private readonly opened = new Set<string>();
  private readonly ended: string[] = [];
  private readonly reported: string[] = [];

  constructor(
    private readonly setup: Backends,
    private readonly stream: EventStreamFixture,
  ) {}

  /**
   * Exchanges the token of a session.
   * @param before state of the model, which the exchange is judged by
   * @param reaches true if the replica reaches the database
   */
  async exchange(
    server: Target,
    session: string,
    token: string,
    { before, reaches }: { readonly before: ModelState; readonly reaches: boolean },
  ): Promise<void> {
    const form = exchangeForm(token, BACKEND.id);
    const { status, body, text } = await postForm(server, '/v1/oauth/token', form, fromSomewhere());
    const judged = isAlive(before, session) ? 200 : 400;
    const expected = reaches ? judged : 503;
    strictEqual(status, expected, `the exchange of ${session} was answered ${status}: ${text}`);
    this.compared += 1;
    if (status === 200) {
      this.takeToken(session, String(body['access_token']), before);
    }
  }

  /** Compares the session that a new token names with that of the last one. */
  takeToken(holder: string, issued: string, before: ModelState): void {
    const known = this.tokens.get(holder);
    const isSame = known !== undefined && sidOf(known) === sidOf(issued);
    strictEqual(isSame, before.atBackend[holder] === 'open', `${holder} has the same session`);
    ok(isSame || !this.opened.has(sidOf(issued)), 'an ended session at the backend returned');
    this.opened.add(sidOf(issued));
    this.tokens.set(holder, issued);
  }

  /** Notes the sessions at the backend that an act ended, and waits for their events in the log. */
  async compareEnds(server: Target, before: ModelState, state: ModelState): Promise<void> {
    for (const [session, token] of this.tokens) {
      if (before.atBackend[session] === 'open' && state.atBackend[session] === 'ended') {
        this.ended.push(sidOf(token));
        this.compared += 1;
      }
    }
    await waitFor('the events of sessions at the backend', async () => {
      await this.read(server);
      return this.ended.every((sid) => this.reported.includes(sid));
    });
    deepStrictEqual(this.reported.toSorted(), this.ended.toSorted());
  }

  /**
   * Compares a proxied request with the newest token of each session, and what the backend is answered
   * about that of the program. Nothing of this backend is in the memory of the replica before, so the
   * answer comes from the database.
   */
  async compareAnswers(server: Target, state: ModelState, reaches: boolean): Promise<void> {
    for (const [holder, token] of this.tokens) {
      const isOpen = state.atBackend[holder] === 'open';
      if (holder === PROGRAM) {
        await this.compareProgram(server, token, { isOpen, reaches });
      } else {
        const isAdmitted = isAlive(state, holder) && isOpen;
        const path = `/v1/oauth/forward-auth/${BACKEND.id}`;
        const { status, text } = await call(server, 'GET', path, {
          token,
          headers: fromSomewhere(),
        });
        const judged = isAdmitted ? [200] : [401, 403];
        const expected = reaches ? judged : [503];
        ok(expected.includes(status), `${holder} at the backend was answered ${status}: ${text}`);
      }
      this.compared += 1;
    }
  }

  private async compareProgram(
    server: Target,
    token: string,
    { isOpen, reaches }: { readonly isOpen: boolean; readonly reaches: boolean },
  ): Promise<void> {
    const credentials = basic(BACKEND.id, this.setup.secretOf(BACKEND.id));
    const { status, body, text } = await postForm(
      server,
      '/v1/oauth/introspect',
      { token },
      credentials,
    );
    strictEqual(status, reaches ? 200 : 503, `the introspection was answered ${status}: ${text}`);
    strictEqual(body['active'], reaches ? isOpen : undefined, 'the program is active');
  }

  /** Takes the events of this trace; those of earlier ones were taken by them. */
  private async read(server: Target): Promise<void> {
    const stream = this.stream.at(server);
    // Replicas are ahead of this process, which therefore cannot see that a token has expired.
    stream.token = await clientToken(server, this.setup, BACKEND.id);
    const events = await stream.take();
    this.reported.push(...endedIn(events).filter((sid) => this.opened.has(sid)));
  }
}

function isAlive({ account, session, isEligible }: ModelState, one: string): boolean {
  return account === 'enabled' && session[one] === 'live' && isEligible;
}

function sidOf(token: string): string {
  return String(decodeJwt(token)['sid']);
}
