import { createSecureContext } from 'node:tls';
import { Agent, fetch as fetchThrough, type RequestInit } from 'undici';
import { isLoginAnswer, type LoginAnswer } from '../../client/api-client-answers.js';
import { parseServerUrl, Transport } from '../../client/api-client-transport.js';
import { CliError } from '../cli-error.js';
import type { CliContext } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { readGivenFile } from '../given-file.js';

interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
  /** Whom the server's own certificate is trusted to come from; undefined = the system's list. */
  readonly ca: string | undefined;
}

/** Logs in with a client certificate: the TLS handshake proves who is there. */
export async function logInWithCertificate(
  { options }: CliContext,
  server: string,
): Promise<LoginAnswer> {
  const address = options.certificateUrl ?? server;
  const serverUrl = parseServerUrl(address);
  if (serverUrl?.startsWith('https:') !== true) {
    throw usage(
      `${address} cannot ask for a certificate: it needs an https address.`,
      'Where that is another one than the server is used at, give it: --certificate-url <url>',
    );
  }
  const dispatcher = new Agent({ connect: { ...(await readCertificate(options)) } });
  const send = (url: string, init: RequestInit) => fetchThrough(url, { ...init, dispatcher });
  try {
    const transport = new Transport({ serverUrl, fetch: send as unknown as typeof fetch });
    const exchange = { body: {}, isAnswer: isLoginAnswer };
    return await transport.send('POST', '/v1/auth/mtls', exchange);
  } finally {
    await dispatcher.close();
  }
}

async function readCertificate(options: CliContext['options']): Promise<ClientCertificate> {
  const { certificate, key, ca } = options;
  if (certificate === undefined || key === undefined) {
    throw usage('Give both: --certificate <file> and --key <file>.');
  }
  const read = {
    cert: await readPem(certificate),
    key: await readPem(key),
    ca: ca === undefined ? undefined : await readPem(ca),
  };
  try {
    createSecureContext(read);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    throw usage(`The certificate, or its key, cannot be used: ${message}.`);
  }
  return read;
}

async function readPem(path: string): Promise<string> {
  return (await readGivenFile(path)).toString('utf8');
}

function usage(message: string, hint?: string): CliError {
  return new CliError(message, {
    exitCode: EXIT.usage,
    code: 'usage',
    hint: hint ?? 'gatehouse login --certificate cert.pem --key key.pem',
  });
}
