import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { randomBytes, utf8Bytes } from './bytes.js';

/** A secret that finishes a login, and its hash, which starts it. */
export interface LoginProof {
  /** Keep it on the device until the login is finished. */
  readonly proof: string;
  /** SHA-256 of the proof's text, lower-case hex. */
  readonly proofHash: string;
}

/** Generates a proof of 32 random bytes. It is in no return address and no QR code. */
export function makeLoginProof(): Promise<LoginProof> {
  return Promise.resolve().then(() => {
    const proof = bytesToHex(randomBytes(32));
    return { proof, proofHash: bytesToHex(sha256(utf8Bytes(proof))) };
  });
}
