import { ok, strictEqual } from 'node:assert';
import {
  approve,
  authorizeQuery,
  authorize,
  INSPECTOR,
  newVerifier,
  redeem,
  refresh,
  tokensIn,
} from '../../test/fixtures/programs-fixture.js';
import { postForm, resourceOf } from '../../test/fixtures/resource-server-fixture.js';
import type { Answer, Target } from '../../test/helpers/client.js';
import type { ModelState } from './itf.js';
import { BACKEND, PROGRAM, type ReplayedBackend } from './replayed-backend.js';

/** The program of one trace. */
export class ReplayedProgram {
  /** Answers that were compared with the model. */
  compared = 0;
  private refreshToken = '';

  constructor(private readonly backend: ReplayedBackend) {}

  /**
   * Approves the program with the token of a session, which the replica admits, and redeems its code.
   * @param before state of the model
   * @param isGranted true if the database admits the session too
   */
  async approve(
    server: Target,
    token: string,
    { before, isGranted }: { readonly before: ModelState; readonly isGranted: boolean },
  ): Promise<void> {
    const verifier = newVerifier();
    const query = authorizeQuery(verifier, { resource: resourceOf(BACKEND.id) });
    const id = new URL(await authorize(server, query)).hash.slice(1);
    const { status, body, text } = await approve(server, token, id);
    const expected = isGranted ? [200] : [401, 403];
    ok(expected.includes(status), `the approval was answered ${status}: ${text}`);
    this.compared += 1;
    if (isGranted) {
      const code = new URL(String(body['redirectTo'])).searchParams.get('code') ?? '';
      this.take(await redeem(server, code, verifier), before);
    }
  }

  /** @param reaches true if the replica reaches the database */
  async refresh(server: Target, before: ModelState, reaches: boolean): Promise<void> {
    const answer = await refresh(server, this.refreshToken);
    const isGranted = before.atBackend[PROGRAM] === 'open';
    const judged = isGranted ? [200, undefined] : [400, 'invalid_grant'];
    const [status, error] = reaches ? judged : [503, 'temporarily_unavailable'];
    strictEqual(answer.status, status, `the refresh was answered ${answer.status}: ${answer.text}`);
    strictEqual(answer.body['error'], error);
    this.compared += 1;
    if (status === 200) {
      this.take(answer, before);
    }
  }

  giveBack(server: Target): Promise<Answer> {
    const form = { token: this.refreshToken, client_id: INSPECTOR.id };
    return postForm(server, '/v1/oauth/revoke', form);
  }

  private take(answer: Answer, before: ModelState): void {
    const tokens = tokensIn(answer);
    this.refreshToken = tokens.refresh;
    this.backend.takeToken(PROGRAM, tokens.access, before);
  }
}
