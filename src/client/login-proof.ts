/** A secret that whoever began a login shows to finish it, and the hash the server is given first. */
export interface LoginProof {
  /** Keep it on the device until the return address opens the app. */
  readonly proof: string;
  /** SHA-256 of the proof, lower-case hex. */
  readonly proofHash: string;
}

/** Makes a new proof: whoever intercepts the return address does not have it. */
export async function makeLoginProof(): Promise<LoginProof> {
  const proof = hexOf(crypto.getRandomValues(new Uint8Array(32)));
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(proof));
  return { proof, proofHash: hexOf(new Uint8Array(hash)) };
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
