import { makeLoginProof } from '../../../../packages/client/crypto/login-proof.js';
import { clientFor } from '../../server.js';
import { CERTIFICATE, savePendingFlow } from '../tab-state.js';

/** Redirects to the provider, or to the address that requests a certificate, to link it or to prove it again. */
export async function goToConnect(token: string, provider: string): Promise<void> {
  const { connect, certificate } = clientFor(token);
  if (provider === CERTIFICATE) {
    const { proof, proofHash } = await makeLoginProof();
    const address = await certificate.startConnect(document.baseURI, proofHash);
    savePendingFlow({ provider, proof, purpose: 'connect' });
    location.assign(address);
  } else {
    const address = await connect.start(provider);
    savePendingFlow({ provider, proof: null, purpose: 'connect' });
    location.assign(address);
  }
}
