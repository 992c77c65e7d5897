import { base64urlnopad } from '@scure/base';
import {
  MAX_REQUEST_BYTES,
  readAgentRequest,
  writeAgentRequest,
  type AgentRequest,
} from '../../../core/protocol/agent-request.js';
import {
  checkAnswer,
  digestOf,
  joinAnswer,
  signedTextOf,
  splitAnswer,
  writeAnswer,
  type AnswerMismatch,
  type RequestAnswer,
} from '../../../core/protocol/request-answer.js';
import {
  joinSeal,
  SEAL_NONCE_BYTES,
  sealDataOf,
  splitSeal,
  type SealPurpose,
} from '../../../core/protocol/request-seal.js';
import { randomBytes } from '../crypto/bytes.js';
import type { RequestKeys } from '../crypto/request-keys.js';

const REQUEST_ID_BYTES = 16;

/** A request as its seal says, with the digest that an answer to it names. */
export interface OpenedRequest {
  readonly request: AgentRequest;
  readonly digest: string;
}

/** A request as it is sent. Keep both texts: the same bytes may be sent again. */
export interface SealedRequest extends OpenedRequest {
  readonly sealed: string;
}

/**
 * The reason why a request or an answer is not believed. `not-authentic`: it does not open, or its
 * signature is of another key. `other-account`: the request was made for another account.
 */
export type SealRefusal = 'not-authentic' | 'other-account' | AnswerMismatch;

/** Draws the id of a request: 128 random bits. A command would read one that begins with `-` as an option. */
export function makeRequestId(): string {
  const id = base64urlnopad.encode(randomBytes(REQUEST_ID_BYTES));
  return id.startsWith('-') ? makeRequestId() : id;
}

/**
 * Seals and opens the requests of an account, and the answers to them. A server relays both, and can
 * neither read nor make one.
 */
export class AccountRequests {
  constructor(
    private readonly keys: RequestKeys,
    readonly accountId: string,
  ) {}

  /** Resolves to null where the request is larger than 64 KiB. */
  async seal(request: AgentRequest): Promise<SealedRequest | null> {
    const bytes = writeAgentRequest(request);
    if (bytes === null) {
      return null;
    }
    if (request.account !== this.accountId || readAgentRequest(bytes) === null) {
      throw new TypeError('This is no request of the account.');
    }
    const sealed = await this.sealBytes('request', request.requestId, bytes);
    return { request, digest: digestOf(bytes), sealed };
  }

  /**
   * Opens the request that the server lists as `requestId`. The caller checks its server with
   * `isKnownServer` before it shows the request.
   */
  async open(requestId: string, sealed: string): Promise<OpenedRequest | SealRefusal> {
    const bytes = await this.openBytes('request', requestId, sealed);
    if (bytes === null || bytes.length > MAX_REQUEST_BYTES) {
      return 'not-authentic';
    }
    const request = readAgentRequest(bytes);
    if (request === null) {
      return 'other-form';
    }
    if (request.requestId !== requestId) {
      return 'other-request';
    }
    return request.account === this.accountId
      ? { request, digest: digestOf(bytes) }
      : 'other-account';
  }

  /** Signs and seals an answer. */
  async sealAnswer(answer: RequestAnswer): Promise<string> {
    const bytes = writeAnswer(answer);
    const signature = await this.keys.sign(signedTextOf(bytes));
    return this.sealBytes('answer', answer.requestId, joinAnswer(signature, bytes));
  }

  /** Opens an answer to `asked`, and verifies it: signature, request, digest and choice. */
  async openAnswer(
    { request, digest }: OpenedRequest,
    sealed: string,
  ): Promise<RequestAnswer | SealRefusal> {
    const plaintext = await this.openBytes('answer', request.requestId, sealed);
    const parts = plaintext === null ? null : splitAnswer(plaintext);
    if (parts === null) {
      return 'not-authentic';
    }
    const { signature, answerBytes } = parts;
    const isSigned = await this.keys.verify(signedTextOf(answerBytes), signature);
    return isSigned ? checkAnswer(answerBytes, request, digest) : 'not-authentic';
  }

  private async sealBytes(
    purpose: SealPurpose,
    requestId: string,
    plaintext: Uint8Array<ArrayBuffer>,
  ): Promise<string> {
    const nonce = randomBytes(SEAL_NONCE_BYTES);
    const data = sealDataOf(purpose, this.accountId, requestId);
    return joinSeal(nonce, await this.keys.encrypt(purpose, nonce, plaintext, data));
  }

  private async openBytes(
    purpose: SealPurpose,
    requestId: string,
    sealed: string,
  ): Promise<Uint8Array | null> {
    const parts = splitSeal(sealed);
    if (parts === null) {
      return null;
    }
    const data = sealDataOf(purpose, this.accountId, requestId);
    try {
      return await this.keys.decrypt(purpose, parts.nonce, parts.ciphertext, data);
    } catch {
      return null;
    }
  }
}
