import type { OpenAPIObject } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from '../../common/errors.js';

/** An invented moment in Unix milliseconds. */
const TIME = Date.UTC(2026, 0, 31, 12);
const ACCOUNT_ID = '5b6d0800-67cb-4400-8b82-b5408e1ee2fd';
const SESSION_ID = '90c1a7de-3f0b-4c53-9f0e-6f1d2c3b4a59';
const SESSION_NAME = 'Firefox on Linux';
const TOKEN = 'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiI1YjZkMDgwMCJ9.c2lnbmF0dXJl';
const PUSH_TOKEN = 'ExponentPushToken[abcdefghijklmnop]';
const REQUEST_ID = 'q83vEjRWeJCrze8SNFZ4kA';

/** Values by the property, or by the schema and the property where others have another form. */
const EXAMPLES: Readonly<Record<string, string>> = {
  accountId: ACCOUNT_ID,
  address: '192.0.2.7',
  challenge: '3q2+7wAAAABpfd0A2m9vdGhlciByYW5kb20gYnl0ZXM=',
  clientServerUrl: 'https://gatehouse.example.com',
  invitation: 'TV2K-ABJ3-TV2K-ABJ3-TV59',
  login: 'ada',
  method: 'key_challenge',
  platform: 'web',
  proofHash: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  provider: 'github',
  publicKey: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  sessionId: SESSION_ID,
  sessionName: SESSION_NAME,
  signature:
    '5VZDAMNgrHKQhuzMgG6CioSHfx645dl02HPgZSJJAVVfuIIVkKM7rMYeOXAc+bRr0lv18FlbviRlUUFDjnoQCw==',
  userCode: 'WDJB-MJHT',
  'AccountProfileDto.id': ACCOUNT_ID,
  'AnsweredRequestDto.id': REQUEST_ID,
  'ClientDto.name': SESSION_NAME,
  'DeviceTokenDto.token': TOKEN,
  'LoginAnswerDto.token': TOKEN,
  'NewRequestDto.id': REQUEST_ID,
  'PushTokenDto.name': 'Pixel 9',
  'PushTokenDto.platform': 'android',
  'PushTokenDto.token': PUSH_TOKEN,
  'RequestDto.id': REQUEST_ID,
  'RequestSummaryDto.id': REQUEST_ID,
  'SavePushTokenDto.name': 'Pixel 9',
  'SavePushTokenDto.platform': 'android',
  'SavePushTokenDto.token': PUSH_TOKEN,
  'SessionClientDto.name': SESSION_NAME,
  'SessionDto.id': SESSION_ID,
};

/** Writes examples into the schemas: pages would otherwise show `string` and `0`. */
export function addExamples({ components }: OpenAPIObject): void {
  for (const [owner, schema] of Object.entries(components?.schemas ?? {})) {
    const properties = 'properties' in schema ? Object.entries(schema.properties ?? {}) : [];
    for (const [name, property] of properties) {
      if ('type' in property && property.enum === undefined) {
        const example = exampleOf(owner, name, property.type);
        Object.assign(property, example !== undefined && { example });
      }
    }
  }
}

function exampleOf(owner: string, name: string, type: unknown): string | number | undefined {
  if (type === 'number') {
    return /^at$|At$/.test(name) ? TIME : undefined;
  }
  return type === 'string' ? (EXAMPLES[`${owner}.${name}`] ?? EXAMPLES[name]) : undefined;
}

/** The answers of all refusals, by their code. */
export function refusalExamples(
  codes: ReadonlySet<ErrorCode>,
): Record<string, { readonly value: object }> {
  return Object.fromEntries(
    Object.entries(ERRORS)
      .filter(([code]) => codes.has(code as ErrorCode))
      .map(([code, { status, message }]) => [
        code,
        { value: { statusCode: status, code, error: code, message } },
      ]),
  );
}
