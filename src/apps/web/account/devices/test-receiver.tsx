import type { SavedPushToken } from '../../../../packages/client/api/api-client-answers.js';
import { Button } from '../../ui/button.js';
import { DialogButton } from '../../ui/dialog.js';
import { done, NoticeLine, problem, useNotedAction } from '../../ui/notice.js';
import { t } from '../../i18n/messages.js';
import { Listing } from '../../ui/listing.js';
import { showTest } from '../notifications/push-subscription.js';

interface TestReceiverProps {
  readonly device: SavedPushToken;
  readonly name: string;
  readonly isOwn: boolean;
}

/** A page cannot call push services without CORS, so a command tests the whole path. */
export function TestReceiver({ device, name, isOwn }: TestReceiverProps) {
  const { tests } = t;
  return (
    <DialogButton open={tests.open} title={tests.title(name)} aria-label={`${tests.open} ${name}`}>
      {(close) => (
        <>
          {isOwn && <ShowTest />}
          <p>{tests.why}</p>
          <Listing text={`gatehouse tokens test ${device.id}`} label={tests.title(name)} />
          <p class="hint">{tests.outcome}</p>
          <div class="row end">
            <Button onClick={close} text={t.close} />
          </div>
        </>
      )}
    </DialogButton>
  );
}

export function ShowTest() {
  const { notice, show, isBusy, run } = useNotedAction();
  const { tests } = t;
  const test = async () => {
    const isShown = await showTest(tests.sampleTitle, tests.sampleBody);
    show(isShown ? done(() => t.tests.shown) : problem(() => t.tests.notShown));
  };
  return (
    <>
      <div class="row">
        <Button disabled={isBusy} onClick={() => run(test)} text={tests.show} />
      </div>
      <NoticeLine notice={notice} />
    </>
  );
}
