import type { CreatedInvitation } from '../../../client/api/admin-client.js';
import { CopyButton } from '../../ui/copy-button.js';
import { texts } from '../words/texts.js';

interface CreatedProps extends CreatedInvitation {
  readonly close: () => void;
}

/** The code of a new invitation: the server does not know it any more. */
export function Created({ code, link, close }: CreatedProps) {
  const { invitations } = texts;
  return (
    <section aria-labelledby="created" role="status">
      <div class="lead">
        <h2 id="created">{invitations.created}</h2>
        <p class="quiet">{invitations.createdLead}</p>
      </div>
      <dl>
        <dt>{invitations.code}</dt>
        <dd>
          <Copied text={code} label={invitations.code} />
        </dd>
        {link !== null && (
          <>
            <dt>{invitations.link}</dt>
            <dd>
              <Copied text={link} label={invitations.link} />
            </dd>
          </>
        )}
      </dl>
      <p class="hint">{link === null ? invitations.noLink : invitations.linkHint}</p>
      <button type="button" onClick={close}>
        {invitations.close}
      </button>
    </section>
  );
}

function Copied({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div class="row">
      <span class="code">{text}</span>
      <CopyButton text={text} label={label} />
    </div>
  );
}
