import { createSecureContext } from 'node:tls';
import { EnvHttpProxyAgent, fetch as fetchThrough, type RequestInit } from 'undici';
import type { LoginAnswer } from '../../../packages/client/api/api-client-answers.js';
import { parseServerUrl } from '../../../packages/client/api/server-url.js';
import { GatehouseClient } from '../../../packages/client/api/api-client.js';
import { usageError } from '../cli-error.js';
import { readInputFile } from '../input.js';
import { thisComputer } from './this-computer.js';

interface CertificateOptions {
  readonly certificate?: string;
  readonly key?: string;
  readonly ca?: string;
  readonly certificateUrl?: string;
}

export async function logInWithCertificate(
  options: CertificateOptions,
  server: string,
): Promise<LoginAnswer> {
  const address = options.certificateUrl ?? server;
  const serverUrl = parseServerUrl(address);
  if (serverUrl?.startsWith('https:') !== true) {
    throw usageError(
      `${address} cannot request a certificate: it needs an https address.`,
      'Where certificates have an address of their own, give it: --certificate-url <url>',
    );
  }
  const certificateOptions = await readCertificate(options);
  const dispatcher = new EnvHttpProxyAgent({
    connect: certificateOptions,
    requestTls: certificateOptions,
  });
  const send = (url: string, init: RequestInit) => fetchThrough(url, { ...init, dispatcher });
  try {
    const { certificate } = new GatehouseClient({ serverUrl, client: thisComputer, fetch: send });
    return await certificate.logIn();
  } finally {
    await dispatcher.close();
  }
}

/** Reads PEM texts; an undefined `ca` = the system's certificate authorities. */
async function readCertificate({ certificate, key, ca }: CertificateOptions) {
  if (certificate === undefined || key === undefined) {
    throw usageError('Give both: --certificate <file> and --key <file>.', EXAMPLE);
  }
  const readPem = async (path: string) => (await readInputFile(path)).toString('utf8');
  const pem = {
    cert: await readPem(certificate),
    key: await readPem(key),
    ca: ca === undefined ? undefined : await readPem(ca),
  };
  try {
    createSecureContext(pem);
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    throw usageError(`The certificate, or its key, cannot be used: ${message}.`, EXAMPLE);
  }
  return pem;
}

const EXAMPLE = 'gatehouse login --certificate cert.pem --key key.pem';
