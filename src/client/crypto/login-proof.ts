import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/** A secret that finishes a login, and its hash, which starts it. */
export interface LoginProof {
  /** Keep it on the device until the login is finished. */
  readonly proof: string;
  /** SHA-256 of the proof's text, lower-case hex. */
  readonly proofHash: string;
}

/** Generates a proof of 32 random bytes. It is in no return address and no QR code. */
export function makeLoginProof(): Promise<LoginProof> {
  const proof = bytesToHex(crypto.getRandomValues(new Uint8Array(32)));
  return Promise.resolve({ proof, proofHash: bytesToHex(sha256(utf8ToBytes(proof))) });
}
