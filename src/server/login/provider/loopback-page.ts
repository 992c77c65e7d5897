import { createHash } from 'node:crypto';
import { escapeText } from '../../http/branded-page.js';
import { confirmationPageHeaders } from '../../http/security-headers.js';

export interface LoopbackQuestion {
  readonly provider: string;
  readonly port: number;
  /** The code that the program shows as well. */
  readonly code: string;
  readonly flow: 'auth' | 'connect';
  /** The error; null when there is a result. */
  readonly error: string | null;
  /** Sent to the program or dropped; null when there is no result. */
  readonly pending: string | null;
  readonly location: string;
}

const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#fff, #16191d); --field: light-dark(#f4f6f7, #20252b);
  --ink: light-dark(#1b2126, #e8ecef); --faint: light-dark(#59646e, #9ba7b2); --line: light-dark(#d5dbe0, #363e47);
  --accent: light-dark(#1f6b59, #6fc7b0); --on-accent: light-dark(#fff, #10201c); font: 16px/1.5 system-ui, sans-serif; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); }
main { max-width: 34rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; }
p { margin: 0 0 .75rem; }
.quiet { color: var(--faint); }
.code { padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--field);
  font: 600 1.75rem/1.25 ui-monospace, monospace; letter-spacing: .1em; text-align: center; }
.acts { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.acts > * { flex: 1 1 12rem; margin: 0; }
a, button { display: block; width: 100%; min-height: 2.75rem; padding: .5rem 1rem; border: 1px solid var(--line);
  border-radius: .5rem; background: var(--field); color: inherit; font: inherit; text-align: center; text-decoration: none; cursor: pointer; }
a { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Headers of both pages: no script, one style, no frame around them, a form to this server only. */
export const LOOPBACK_PAGE_HEADERS: Readonly<Record<string, string>> = {
  ...confirmationPageHeaders(STYLE_HASH),
  'content-type': 'text/html; charset=utf-8',
};

/**
 * Asks before the redirect to a program on the computer: a link can begin a login in another user's
 * browser, and any program that listens there would receive it (RFC 8252, 8.6).
 */
export function loopbackPage(question: LoopbackQuestion): string {
  const { provider, port, code, pending, location } = question;
  const field =
    pending === null ? '' : `<input type="hidden" name="pending" value="${escapeText(pending)}">`;
  return page(
    'Continue to a program on this computer?',
    `<p>${outcome(question)}</p>
<p>A program on this computer waits for the answer of <strong>${escapeText(provider)}</strong> at port
<strong>${port}</strong>. Compare this code with the one that the program shows:</p>
<p class="code">${code}</p>
<p>Continue only if you started this yourself, in that program, and it shows the same code. If a link or
another person brought you here, cancel.</p>
<div class="acts">
<a href="${escapeText(location)}" rel="noreferrer">The codes match: continue</a>
<form method="post" action="cancel">${field}<button>Cancel</button></form>
</div>`,
  );
}

export function cancelledPage(): string {
  return page(
    'Cancelled',
    `<p>Nothing was sent to a program on this computer.</p>
<p class="quiet">You can close this page. If a program still waits, end it there.</p>`,
  );
}

function outcome({ provider, flow, error }: LoopbackQuestion): string {
  const name = escapeText(provider);
  if (error !== null) {
    const what = flow === 'auth' ? 'sign-in' : 'connection';
    return `The ${what} through ${name} did not succeed (${escapeText(error)}).`;
  }
  return flow === 'auth'
    ? `You are about to sign in through ${name}.`
    : `You are about to connect your ${name} identity to an account.`;
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - Gatehouse</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`;
}
