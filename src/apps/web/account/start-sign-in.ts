import type { ProviderChoice } from '../../../packages/client/api/auth-choices.js';
import { GatehouseProblem } from '../../../packages/client/api/problem.js';
import { makeLoginProof } from '../../../packages/client/crypto/login-proof.js';
import { clientFor } from '../server.js';
import { CERTIFICATE, savePendingFlow, type Session } from './tab-state.js';

/** Redirects to the provider; the proof stays in this tab. */
export async function redirectTo({ id: provider, startMode: mode }: ProviderChoice): Promise<void> {
  const { proof, proofHash } = await makeLoginProof();
  const address = await clientFor().external.start(provider, { mode, proofHash });
  savePendingFlow({ provider, proof, purpose: 'sign-in' });
  location.assign(address);
}

/** Without a certificate on this connection, redirects to the address that requests one. */
export async function signInWithCertificate(
  startSession: (session: Session) => void,
): Promise<void> {
  const { certificate } = clientFor();
  try {
    startSession(await certificate.logIn());
  } catch (error) {
    const isCertificateMissing =
      error instanceof GatehouseProblem && error.code === 'mtls-required';
    const { proof, proofHash } = await makeLoginProof();
    const start = certificate.startUrl(document.baseURI, proofHash);
    if (!isCertificateMissing || !(await redirects(start))) {
      throw error;
    }
    savePendingFlow({ provider: CERTIFICATE, proof, purpose: 'sign-in' });
    location.assign(start);
  }
}

/** Checked before the redirect: the browser would show a refusal as JSON instead of this page. */
export async function redirects(address: string): Promise<boolean> {
  const { type } = await fetch(address, { redirect: 'manual' });
  return type === 'opaqueredirect';
}
