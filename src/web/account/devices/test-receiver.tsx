import { useState } from 'preact/hooks';
import type { SavedPushToken } from '../../../client/api/api-client-answers.js';
import { Dialog, useDialog } from '../../ui/dialog.js';
import { done, NoticeLine, problem, useAction, type Notice } from '../../ui/notice.js';
import { words } from '../../words/words.js';
import { Listing } from '../notifications/listing.js';
import { showTest } from '../notifications/push-subscription.js';

interface TestReceiverProps {
  readonly device: SavedPushToken;
  readonly name: string;
  /** Whether it is this browser. */
  readonly isOwn: boolean;
}

/**
 * A test of one device. The server sends nothing, and push services take nothing from a page: their
 * answers have no CORS headers. So this browser shows a test itself, and for the whole way there is a
 * command.
 */
export function TestReceiver({ device, name, isOwn }: TestReceiverProps) {
  const dialog = useDialog();
  const { tests } = words;
  return (
    <>
      <button
        type="button"
        aria-label={`${tests.open} ${name}`}
        onClick={() => dialog.current?.showModal()}
      >
        {tests.open}
      </button>
      <Dialog own={dialog} title={tests.title(name)}>
        {isOwn && <ShowTest />}
        <p>{tests.why}</p>
        <Listing text={`gatehouse tokens test ${device.id}`} label={tests.title(name)} />
        <p class="hint">{tests.outcome}</p>
        <div class="row end">
          <button type="button" onClick={() => dialog.current?.close()}>
            {words.dismiss}
          </button>
        </div>
      </Dialog>
    </>
  );
}

/** Shows a test in this browser, and reports what was tried. */
export function ShowTest() {
  const [notice, show] = useState<Notice | null>(null);
  const { isBusy, run } = useAction(show);
  const { tests } = words;
  const test = async () => {
    const isShown = await showTest(tests.sampleTitle, tests.sampleBody);
    show(isShown ? done(tests.shown) : problem(tests.notShown));
  };
  return (
    <>
      <div class="row">
        <button type="button" disabled={isBusy} onClick={() => run(test)}>
          {tests.show}
        </button>
      </div>
      <NoticeLine notice={notice} />
    </>
  );
}
