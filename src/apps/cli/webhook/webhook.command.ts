import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseJson } from '../../../common/parse-json.js';
import { recordOf } from '../../../core/protocol/is-record.js';
import type {
  RefusalReason,
  SignatureKind,
  VerifyOptions,
} from '../../../packages/webhooks/verify.js';
import type { readStream } from '../input.js';
import { command, type CommandGroup, type OptionSpec } from '../command.js';
import { EXIT, usageError } from '../cli-error.js';
import { repeated, wholeNumber } from '../options.js';
import type { Output } from '../output.js';

const MAX_BODY_BYTES = 1024 * 1024;
const REASONS = {
  'missing-signature': 'it is not signed',
  'wrong-signature': 'it was signed with another secret, or changed on its way',
  'wrong-time': 'it is too old, or the clocks differ',
  'invalid-payload': 'it is no delivery',
} as const satisfies Record<RefusalReason, string>;

const SECRET_FILE = [
  '--secret-file <file>',
  'the signing secret (or $GATEHOUSE_WEBHOOK_SECRET)',
] as const satisfies OptionSpec;
const SECRET = [
  '--secret <text>',
  'the same (others may see it in the process list)',
  { conflicts: ['secretFile'] },
] as const satisfies OptionSpec;

export const webhook: CommandGroup = {
  name: 'webhook',
  description: 'receive and verify webhook deliveries',
  commands: [
    command({
      name: 'listen',
      description: 'receive deliveries on this computer, and print whether each verifies',
      options: [
        [
          '--port <port>',
          'port of 127.0.0.1 (default: a free one)',
          { parse: wholeNumber(0, 65_535) },
        ],
        SECRET_FILE,
        SECRET,
        ['--status <code>', 'answer with this (default 204)', { parse: wholeNumber(200, 599) }],
      ],
      examples: ['gatehouse webhook listen --port 8787 --secret-file secret.txt'],
      async run({ options, environment, output }) {
        const { port = 0, status = 204 } = options;
        const { readStream, signingSecret } = await import('../input.js');
        const secret = await signingSecret(options, environment);
        const check = secret === null ? null : await loadCheck(secret);
        const { createServer } = await import('node:http');
        const receiver: Receiver = { output, check, status, readStream };
        const server = createServer((request, response) => {
          receive(receiver, request, response).catch(() => response.destroy());
        });
        server.listen(port, '127.0.0.1');
        await once(server, 'listening');
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
        const hint =
          secret === null ? 'No secret was given: nothing is verified.' : 'Ctrl-C ends it.';
        output.result({ listening: url }, `Listening on ${url}  ${hint}`);
        const stop = (): void => {
          server.close();
          server.closeAllConnections();
        };
        process.once('SIGINT', stop);
        process.once('SIGTERM', stop);
        output.onUnread(stop);
        await once(server, 'close');
      },
    }),
    command({
      name: 'verify',
      description: 'verify a stored delivery',
      options: [
        ['--file <file>', 'the body, byte for byte (default: standard input)'],
        ['--signature <value>', 'value of the header x-service-signature-256'],
        ['--header <name:value>', 'any header; may be repeated', { parse: repeated }],
        [
          '--tolerance-seconds <n>',
          'how old it may be; needs webhook-* headers',
          { parse: wholeNumber(0, 31_536_000) },
        ],
        SECRET_FILE,
        SECRET,
      ],
      examples: [
        'gatehouse webhook verify --secret-file secret.txt --signature sha256=… < body.json',
      ],
      async run({ options, environment, output }) {
        const { file, signature, header = [], toleranceSeconds } = options;
        const { readInputFile, readStream, signingSecret } = await import('../input.js');
        const secret = await signingSecret(options, environment);
        if (secret === null) {
          const hint = 'Give --secret-file, or set GATEHOUSE_WEBHOOK_SECRET.';
          throw usageError('A signing secret is needed.', hint);
        }
        const headers = Object.fromEntries(header.map(parseHeader));
        if (signature !== undefined) {
          headers['x-service-signature-256'] = signature;
        }
        const input = process.stdin as AsyncIterable<Buffer>;
        const body = await (file === undefined
          ? readStream(input, MAX_BODY_BYTES)
          : readInputFile(file));
        // A stored delivery may be of any age.
        const check = await loadCheck(secret, { toleranceSeconds: toleranceSeconds ?? null });
        const found = check(headers, body);
        output.result(found, describe(found));
        return found.valid ? EXIT.ok : EXIT.refused;
      },
    }),
  ],
};

type Verification =
  | { readonly valid: true; readonly signature: SignatureKind }
  | { readonly valid: false; readonly reason: RefusalReason };

type Check = (headers: IncomingMessage['headers'], body: Buffer) => Verification;

async function loadCheck(secret: string, options: VerifyOptions = {}): Promise<Check> {
  const { verifySignature, WebhookRefused } = await import('../../../packages/webhooks/verify.js');
  return (headers, body) => {
    try {
      return { valid: true, signature: verifySignature(headers, body, secret, options) };
    } catch (error) {
      if (error instanceof WebhookRefused) {
        return { valid: false, reason: error.reason };
      }
      throw error;
    }
  };
}

interface Receiver {
  readonly output: Output;
  /** null = no secret was given. */
  readonly check: Check | null;
  /** The status for verified deliveries, and for all without a secret. */
  readonly status: number;
  readonly readStream: typeof readStream;
}

async function receive(
  { output, check, status, readStream }: Receiver,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readStream(request, MAX_BODY_BYTES);
  const found = check === null ? null : check(request.headers, body);
  const isRefused = found !== null && !found.valid;
  response.writeHead(isRefused ? 401 : status).end();
  const id = request.headers['webhook-id'] ?? null;
  const given = body.toString('utf8');
  const payload = parseJson(given) ?? given;
  const { topic = null, content = {} } = recordOf(payload);
  const { title = '', body: text = '' } = recordOf(content);
  const verdict = found === null ? 'not checked' : describe(found);
  output.result(
    { id, verified: found?.valid ?? null, ...(isRefused && { reason: found.reason }), payload },
    `${String(topic)}  ${verdict}  ${String(id)}\n  ${String(title)}\n  ${String(text).replaceAll('\n', '\n  ')}`,
  );
}

function describe(found: Verification): string {
  return found.valid ? 'verified' : `NOT VERIFIED: ${REASONS[found.reason]}`;
}

function parseHeader(text: string): [string, string] {
  const [name = '', ...rest] = text.split(':');
  return [name.trim().toLowerCase(), rest.join(':').trim()];
}
