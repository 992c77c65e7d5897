import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../ui/button.js';
import { copyText, selectText } from '../ui/copy-button.js';
import { failure, NoticeLine, problem, type Notice, type Notify } from '../ui/notice.js';
import { t } from '../i18n/messages.js';
import { KeyCharacters } from './key-characters.js';
import type { KeySheetProps } from './key-sheet.js';

/** A hidden key in a field that password managers offer to save. */
export function KeyView({ id, secret, accountId }: KeySheetProps & { readonly id: string }) {
  const [isShown, setShown] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const [notice, show] = useState<Notice | null>(null);
  const { Sheet, printSheet } = useSheet(show);
  const copy = async () => {
    const isDone = await copyText(secret);
    setCopied(isDone);
    show(isDone ? null : problem(() => t.copyRefused));
    setShown(isShown || !isDone);
  };
  return (
    <>
      <input
        id={id}
        class="code"
        type="password"
        autocomplete="new-password"
        value={secret}
        readOnly
      />
      {isShown && <KeyText secret={secret} isSelected={notice !== null} />}
      <div class="row">
        <Button
          aria-pressed={isShown}
          onClick={() => setShown(!isShown)}
          text={isShown ? t.hide : t.show}
        />
        <Button
          onClick={() => void copy()}
          icon={isCopied ? 'check' : 'copy'}
          text={isCopied ? t.copied : t.copy}
        />
        <Button onClick={printSheet} icon="printer" text={t.print} />
      </div>
      <NoticeLine notice={notice} />
      {Sheet !== null && <Sheet secret={secret} accountId={accountId} />}
    </>
  );
}

/** The sheet is loaded when it is printed first, with its QR code. */
function useSheet(notify: Notify) {
  const [Sheet, setSheet] = useState<ComponentType<KeySheetProps> | null>(null);
  const printSheet = () => {
    if (Sheet !== null) {
      print();
      return;
    }
    import('./key-sheet.js').then(
      ({ KeySheet }) => setSheet(() => KeySheet),
      (error: unknown) => notify(failure(error)),
    );
  };
  useEffect(() => void (Sheet !== null && print()), [Sheet]);
  return { Sheet, printSheet };
}

function KeyText({
  secret,
  isSelected,
}: {
  readonly secret: string;
  readonly isSelected: boolean;
}) {
  const text = useRef<HTMLOutputElement>(null);
  useEffect(() => selectText(isSelected ? text.current : null), [isSelected]);
  return (
    <>
      <output ref={text} class="key-text code">
        <KeyCharacters secret={secret} />
      </output>
      <p class="hint">{t.newKey.checksum}</p>
    </>
  );
}
