import { useEffect } from 'preact/hooks';
import { makeLoginProof } from '../client/login-proof.js';
import { GatehouseProblem } from '../client/problem.js';
import { CERTIFICATE, type Arrival } from './arrival.js';
import { clientFor } from './server.js';
import { rememberBegun, type Session } from './tab-memory.js';
import { failureInWords, problem, returnErrorInWords, type Notice } from './words.js';

/**
 * Signs in with the certificate of this connection. Where it has none, goes to the address that asks
 * browsers for one, if the server has such an address and lets it come back here.
 */
export async function signInWithCertificate(enter: (session: Session) => void): Promise<void> {
  const { certificate } = clientFor();
  try {
    enter(await certificate.logIn());
  } catch (error) {
    const isUnasked = error instanceof GatehouseProblem && error.code === 'mtls-required';
    const { proof, proofHash } = await makeLoginProof();
    const start = certificate.startUrl(document.baseURI, proofHash);
    if (!isUnasked || !(await leadsOn(start))) {
      throw error;
    }
    rememberBegun({ provider: CERTIFICATE, proof });
    location.assign(start);
  }
}

/** A refusal would be shown in place of this page, as it is meant for programs. */
async function leadsOn(address: string): Promise<boolean> {
  const { type } = await fetch(address, { redirect: 'manual' });
  return type === 'opaqueredirect';
}

interface CertificateReturnedProps {
  readonly arrival: Extract<Arrival, { kind: 'certificate' }>;
  readonly enter: (session: Session) => void;
  readonly goOn: (notice: Notice) => void;
}

/** Takes the session that a sign-in with a certificate brought back. */
export function CertificateReturned({ arrival, enter, goOn }: CertificateReturnedProps) {
  const { code, error, proof } = arrival;
  useEffect(() => {
    if (code === null) {
      goOn(problem(returnErrorInWords(error)));
    } else {
      clientFor()
        .certificate.claim(code, proof)
        .then(enter, (failure: unknown) => goOn(problem(failureInWords(failure))));
    }
  }, []);
  return <p class="quiet">One moment…</p>;
}
