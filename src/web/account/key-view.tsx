import { useEffect, useRef, useState } from 'preact/hooks';
import { brand } from '../brand.js';
import { copyText, selectText } from '../ui/copy-text.js';
import { Icon } from '../ui/icon.js';
import { NoticeLine, problem, type Notice } from '../ui/notice.js';
import { formatDay } from '../words/format.js';
import { words } from '../words/words.js';

/** Characters of a bech32m checksum (BIP 350). */
const CHECKSUM_CHARACTERS = 6;

interface KeyViewProps {
  /** Of the field. */
  readonly id: string;
  readonly secret: string;
}

/** A key in a field that password managers offer to save; hidden until asked for. */
export function KeyView({ id, secret }: KeyViewProps) {
  const [isShown, setShown] = useState(false);
  const [isCopied, setCopied] = useState(false);
  const [notice, show] = useState<Notice | null>(null);
  const isRefused = notice !== null;
  const copy = async () => {
    const isDone = await copyText(secret);
    setCopied(isDone);
    show(isDone ? null : problem(words.copyRefused));
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
      {isShown && <KeyText secret={secret} isSelected={isRefused} />}
      <div class="row">
        <button type="button" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? words.hide : words.show}
        </button>
        <button type="button" onClick={() => void copy()}>
          <Icon name={isCopied ? 'check' : 'copy'} />
          {isCopied ? words.copied : words.copy}
        </button>
        <button type="button" onClick={() => print()}>
          <Icon name="printer" />
          {words.print}
        </button>
      </div>
      <NoticeLine notice={notice} />
      <Sheet secret={secret} />
    </>
  );
}

/** The key with its checksum set apart. */
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
        {secret.slice(0, -CHECKSUM_CHARACTERS)}
        <b>{secret.slice(-CHECKSUM_CHARACTERS)}</b>
      </output>
      <p class="hint">{words.newKey.checksum}</p>
    </>
  );
}

/** What is printed, in place of the page. */
function Sheet({ secret }: { readonly secret: string }) {
  const { security, newKey } = words;
  return (
    <div class="sheet" aria-hidden="true">
      <h1>{security.sheetTitle(brand.name)}</h1>
      <p>{security.sheetLead}</p>
      <p class="key-text code">
        {secret.slice(0, -CHECKSUM_CHARACTERS)}
        <b>{secret.slice(-CHECKSUM_CHARACTERS)}</b>
      </p>
      <p>{newKey.checksum}</p>
      <p>{security.sheetUse}</p>
      <p>
        {security.sheetAddress}: <span class="code">{document.baseURI}</span>
      </p>
      <p>{security.sheetMade(formatDay(Date.now()))}</p>
    </div>
  );
}
