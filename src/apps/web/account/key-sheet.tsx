import { Brand, brand } from '../brand.js';
import { formatDay } from '../i18n/format.js';
import { t } from '../i18n/messages.js';
import { serverUrl } from '../server.js';
import { QrCode } from '../ui/qr-code.js';
import { KeyCharacters } from './key-characters.js';

export interface KeySheetProps {
  readonly secret: string;
  /** null before the account is created: the sheet has a line to write it on. */
  readonly accountId: string | null;
}

/** A page for paper; invisible on the screen. */
export function KeySheet({ secret, accountId }: KeySheetProps) {
  const { security, newKey, overview } = t;
  return (
    <div class="sheet" aria-hidden="true">
      <Brand />
      <h1>{security.sheetTitle(brand.name)}</h1>
      <p>{security.sheetLead}</p>
      <div class="sheet-key">
        {/* In capitals a QR code takes less space (alphanumeric mode, BIP 173). */}
        <QrCode text={secret.toUpperCase()} label={t.code.qr} />
        <div>
          <p class="key-text code">
            <KeyCharacters secret={secret} />
          </p>
          <p>{newKey.checksum}</p>
        </div>
      </div>
      <dl>
        <dt>{overview.id}</dt>
        <dd class={accountId === null ? 'to-write' : 'code'}>{accountId}</dd>
        <dt>{security.sheetAddress}</dt>
        <dd class="code">{document.baseURI}</dd>
        <dt>{security.sheetMade}</dt>
        <dd>{formatDay(Date.now())}</dd>
      </dl>
      <div>
        <h2>{security.sheetUse}</h2>
        <ol>
          {security.sheetSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <p>{security.sheetCommand(serverUrl())}</p>
      </div>
    </div>
  );
}
