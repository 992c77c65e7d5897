import { xchacha20poly1305 } from '@noble/ciphers/chacha.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import * as kit from '../../src/packages/client/index.js';
import { publicKeyOf, signWith } from '../../src/packages/client/crypto/ed25519.js';
import { deriveContentKey } from '../../src/packages/client/crypto/account-content.js';

/** The files of test/vectors that {@link reportKit} reads. */
export interface KitVectors {
  readonly ed25519: {
    readonly cases: readonly {
      seed: string;
      publicKey: string;
      message: string;
      signature: string;
    }[];
  };
  readonly hkdf: {
    readonly cases: readonly { ikm: string; salt: string; info: string; okm: string }[];
  };
  readonly xchacha: {
    readonly key: string;
    readonly nonce: string;
    readonly aad: string;
    readonly plaintext: string;
    readonly sealed: string;
  };
  readonly content: {
    readonly secret: string;
    readonly accountId: string;
    readonly contentKey: string;
    readonly keys: readonly { secret: string; text: string; olderText: string }[];
    readonly values: readonly {
      purpose: kit.CredentialPurpose | 'settings';
      nonce: string;
      plaintext: string;
      sealed: string;
    }[];
    readonly settings: readonly { rev: number; plaintext: string; sealed: string; hash: string }[];
  };
  /** Accounts that another implementation sealed to a device. */
  readonly device: Pick<kit.DeviceSecrets, 'publicKey' | 'privateKey' | 'linkSecret'> & {
    readonly approvals: readonly {
      origins: readonly string[];
      plaintext: string;
      sealed: string;
      keyWords?: readonly string[];
      words?: readonly string[];
    }[];
  };
  readonly requests: {
    readonly secret: string;
    readonly accountId: string;
    readonly requests: readonly {
      requestId: string;
      digest: string;
      sealed: string;
      answers: readonly { plaintext: string; sealed: string }[];
    }[];
  };
}

const CHALLENGE = ['gatehouse-login-v1', 'https://gate.example', 'A'.repeat(43), '9999999999999'];

/** Needs only the language, so the same code runs in an engine without any platform. */
export async function reportKit(vectors: KitVectors): Promise<object> {
  return {
    vectors: await reportVectors(vectors),
    content: reportContent(vectors),
    keys: await reportKeys(vectors),
    device: await reportDevice(vectors.device),
    requests: await reportRequests(vectors.requests),
    notifications: reportNotifications(),
    addresses: reportAddresses(),
  };
}

async function reportVectors({ ed25519, hkdf: rfc5869, xchacha }: KitVectors): Promise<object> {
  const bytes = (hex: string) => Uint8Array.from(hexToBytes(hex));
  return {
    ed25519: await Promise.all(
      ed25519.cases.map(async ({ seed, message }) => ({
        publicKey: bytesToHex(await publicKeyOf(bytes(seed))),
        signature: bytesToHex(await signWith(bytes(seed), bytes(message))),
      })),
    ),
    hkdf: rfc5869.cases.map(({ ikm, salt, info, okm }) =>
      bytesToHex(hkdf(sha256, bytes(ikm), bytes(salt), bytes(info), okm.length / 2)),
    ),
    xchacha: bytesToHex(
      xchacha20poly1305(bytes(xchacha.key), bytes(xchacha.nonce), bytes(xchacha.aad)).encrypt(
        bytes(xchacha.plaintext),
      ),
    ),
  };
}

function reportContent({ content }: KitVectors): object {
  const { secret, accountId, values, settings } = content;
  const account = new kit.AccountContent(hexToBytes(secret), accountId);
  const other = new kit.AccountContent(new Uint8Array(32), accountId);
  const elsewhere = new kit.AccountContent(hexToBytes(secret), 'another-account');
  return {
    contentKey: bytesToHex(deriveContentKey(hexToBytes(secret))),
    opened: values.map(({ purpose, sealed }) => JSON.stringify(openAs(account, purpose, sealed))),
    settings: settings.map(({ sealed }) => account.openSettings(sealed)),
    refused: values.map(({ purpose, sealed }) => [
      refusalOf(() => openAs(other, purpose, sealed)),
      refusalOf(() => openAs(elsewhere, purpose, sealed)),
      refusalOf(() => account.open('credential:other', sealed)),
      refusalOf(() => openAs(account, purpose, `${sealed.slice(0, -8)}AAAAAAAA`)),
      refusalOf(() => openAs(account, purpose, 'c2VhbGVk')),
    ]),
  };
}

function openAs(
  account: kit.AccountContent,
  purpose: kit.CredentialPurpose | 'settings',
  sealed: string,
): unknown {
  return purpose === 'settings'
    ? account.openSettings(sealed).value
    : account.open(purpose, sealed);
}

function refusalOf(open: () => unknown): string {
  try {
    open();
    return 'opened';
  } catch (error) {
    return error instanceof kit.ContentUnreadable ? error.reason : String(error);
  }
}

async function reportKeys({ content: { keys } }: KitVectors): Promise<object> {
  const zero = kit.formatDeviceKey(new Uint8Array(32));
  const signed = await kit.DeviceKey.fromSecret(zero);
  const text = base64Of(CHALLENGE.join('\n'));
  return {
    texts: await Promise.all(
      keys.map(async ({ text: written, olderText }) => [
        (await kit.DeviceKey.fromSecret(written)).toJwk().d,
        (await kit.DeviceKey.fromSecret(olderText)).secret,
      ]),
    ),
    mistyped: await kit.DeviceKey.fromSecret(zero.replace(/.$/, 'q')).catch((error: unknown) =>
      error instanceof kit.DeviceKeyError ? error.reason : String(error),
    ),
    signature: await signed.signChallenge(text, 'https://gate.example/base'),
    relayed: await signed
      .signChallenge(text, 'https://evil.example')
      .catch((error: unknown) =>
        error instanceof kit.ChallengeRefused ? error.reason : String(error),
      ),
  };
}

async function reportDevice({ approvals, ...secrets }: KitVectors['device']): Promise<object> {
  const refusal = (work: Promise<unknown>) =>
    work.catch((error: unknown) =>
      error instanceof kit.DeviceSealError ? error.reason : String(error),
    );
  return Promise.all(
    approvals.map(async ({ origins, plaintext, sealed, words = [] }) => {
      const { accountId } = JSON.parse(plaintext) as { readonly accountId: string };
      const approved = { accountId, sealed };
      const opened = await kit.openApproval(secrets, origins, approved);
      const typed = words.slice(0, 3).join(' ');
      const { key } = opened.via === 'link' ? opened.account : opened.confirm(typed);
      const { publicKey } = secrets;
      return {
        via: opened.via,
        secret: key?.toJwk().d ?? null,
        keyWords: kit.deviceKeyWords({ publicKey, origins }),
        relayed: await refusal(kit.openApproval(secrets, ['https://evil.example'], approved)),
        swapped: await refusal(
          kit.openApproval(secrets, origins, { ...approved, accountId: 'another' }),
        ),
      };
    }),
  );
}

async function reportRequests({
  secret,
  accountId,
  requests: vectors,
}: KitVectors['requests']): Promise<object> {
  const account = new kit.AccountRequests(kit.requestKeys(hexToBytes(secret)), accountId);
  return Promise.all(
    vectors.map(async ({ requestId, digest, sealed, answers }) => {
      const opened = await account.open(requestId, sealed);
      if (typeof opened === 'string') {
        return { refused: opened };
      }
      const swapped = await account.open(requestId, answers[0]?.sealed ?? '');
      const verified = await Promise.all(
        answers.map(async (answer) =>
          JSON.stringify(await account.openAnswer(opened, answer.sealed)),
        ),
      );
      return { isSame: opened.digest === digest, swapped, verified };
    }),
  );
}

function reportNotifications(): object {
  const data = { topic: 'permission_request', sessionId: 's', requestId: 'r' };
  const servers = { active: 'https://GATE.example:443/', saved: ['https://other.example/base'] };
  return ['https://gate.example', 'HTTPS://OTHER.example/base/', 'http://[::1]:3000', 'gate'].map(
    (serverUrl) => {
      const target = kit.readNotificationTarget({ ...data, serverUrl });
      return target === null
        ? null
        : [
            target,
            kit.routeNotification(target, servers),
            kit.actOnNotification('allow', target, servers),
          ];
    },
  );
}

function reportAddresses(): object {
  return {
    servers: [
      'https://gate.example',
      'http://127.0.0.1:3000/a/',
      'http://[FD00::1]',
      'ftp://x',
    ].map(kit.parseServerUrl),
    returned: kit.readOAuthReturn('acme://okta?flow=connect&pending=a%20b#x'),
    link: kit.readDeviceLink(
      `https://gate.example/app/device#WDJB-MJHT.${'A'.repeat(43)}.${'A'.repeat(43)}`,
    ),
    start: new kit.GatehouseClient({ serverUrl: 'https://gate.example' }).certificate.startUrl(
      'acme://back?x=1',
      'ff',
    ),
    choices: kit.authChoices({
      capabilities: {
        auth: {
          methods: [{ method: 'okta', action: 'provision', mode: 'keyed' }],
          providers: { okta: { displayName: 'Okta' } },
        },
      },
    }),
  };
}

/** Encodes ASCII text without `btoa`, which a bare engine lacks. */
function base64Of(text: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const bits = [...text].map((one) => one.charCodeAt(0).toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,6}/g) ?? [];
  return groups.map((group) => letters[parseInt(group.padEnd(6, '0'), 2)]).join('');
}
