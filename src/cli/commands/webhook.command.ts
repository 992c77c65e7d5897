import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { isRecord } from '../../client/problem.js';
import { verify as verifyDelivery, type Verification } from '../../webhooks/verify.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { givenSecret, readGivenFile } from '../given-file.js';
import { notifyOptions } from './notify-options.js';

const MAX_BODY_BYTES = 1024 * 1024;
const REASONS = {
  'missing-signature': 'it is not signed',
  'wrong-signature': 'it was signed with another secret, or changed on its way',
  'wrong-time': 'it is too old, or the clocks differ',
} as const;

/** Says whether a stored delivery is genuine: body from --file or standard input. */
export async function verify(context: CliContext): Promise<number> {
  const { file, signature, header = [], toleranceSeconds } = notifyOptions(context);
  const secret = await requireSecret(context);
  const headers = Object.fromEntries(header.map(parseHeader));
  if (signature !== undefined) {
    headers['x-service-signature-256'] = signature;
  }
  const body = file === undefined ? await readAll(process.stdin) : await readGivenFile(file);
  const tolerance = toleranceSeconds === undefined ? {} : { toleranceSeconds };
  const found = verifyDelivery(headers, body, secret, tolerance);
  context.output.result(found, wordsOf(found));
  return found.valid ? EXIT.ok : EXIT.refused;
}

/** Receives deliveries on this computer until Ctrl-C, and prints each with whether it verifies. */
export async function listen(context: CliContext): Promise<number> {
  const { port = 0, status = 204 } = notifyOptions(context);
  const secret = await givenSecret(notifyOptions(context), context.environment);
  const server = createServer((request, response) => {
    receive(context, secret, status, request, response).catch(() => response.destroy());
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const how = secret === null ? 'No secret was given: nothing is verified.' : 'Ctrl-C ends it.';
  context.output.result({ listening: url }, `Listening on ${url}  ${how}`);
  const stop = (): void => {
    server.close();
    server.closeAllConnections();
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  await once(server, 'close');
  return EXIT.ok;
}

async function receive(
  { output }: CliContext,
  secret: string | null,
  status: number,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readAll(request);
  const found = secret === null ? null : verifyDelivery(request.headers, body, secret);
  const isRefused = found !== null && !found.valid;
  response.writeHead(isRefused ? 401 : status).end();
  const id = request.headers['webhook-id'] ?? null;
  const payload = parse(body);
  const { topic = null, content = {} } = isRecord(payload) ? payload : {};
  const { title = '', body: text = '' } = isRecord(content) ? content : {};
  const verdict = found === null ? 'not checked' : wordsOf(found);
  output.result(
    { id, verified: found?.valid ?? null, ...(isRefused && { reason: found.reason }), payload },
    `${String(topic)}  ${verdict}  ${String(id)}\n  ${String(title)}\n  ${String(text).replaceAll('\n', '\n  ')}`,
  );
}

function wordsOf(found: Verification): string {
  return found.valid ? 'verified' : `NOT VERIFIED: ${REASONS[found.reason]}`;
}

async function requireSecret(context: CliContext): Promise<string> {
  const secret = await givenSecret(notifyOptions(context), context.environment);
  if (secret === null) {
    throw new CliError('A signing secret is needed.', {
      exitCode: EXIT.usage,
      code: 'usage',
      hint: 'Give --secret-file, or set GATEHOUSE_WEBHOOK_SECRET.',
    });
  }
  return secret;
}

function parseHeader(text: string): [string, string] {
  const [name = '', ...rest] = text.split(':');
  return [name.trim().toLowerCase(), rest.join(':').trim()];
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      throw new CliError('The body is larger than 1 MiB.', {
        exitCode: EXIT.refused,
        code: 'size',
      });
    }
  }
  return Buffer.concat(chunks);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return body.toString('utf8');
  }
}
