import { AppError, ERRORS, type ErrorCode } from '../../common/errors.js';
import { SCIM_TYPE, type FormattedRefusal } from '../http/request-rules.js';

type ScimType = 'invalidFilter' | 'invalidPath' | 'invalidSyntax' | 'invalidValue' | 'uniqueness';

/** A refusal with the `scimType` of RFC 7644, 3.12. */
export class ScimError extends AppError {
  constructor(
    readonly scimType: ScimType | null,
    readonly detail: string,
    readonly status = scimType === 'uniqueness' ? 409 : 400,
  ) {
    super('invalid-request');
  }
}

/** RFC 7644, 3.12: the server supports no such request. */
export function notImplemented(): ScimError {
  return new ScimError(null, 'This server has people alone: no groups, and no bulk requests.', 501);
}

/** Codes for which the common message names something that no SCIM client has. */
const DETAILS: Partial<Record<ErrorCode, string>> = {
  'missing-token': 'Send the token of this directory: Authorization: Bearer <token>.',
  'invalid-token': 'The token is not valid for this directory.',
  'not-found': 'There is no such resource.',
};

function detailOf({ code, message, extras }: AppError): string {
  return extras.details?.[0]?.message ?? DETAILS[code] ?? message;
}

/** Writes a refusal as RFC 7644, 3.12 defines it. */
export function scimRefusal(refusal: AppError): FormattedRefusal {
  const isScim = refusal instanceof ScimError;
  const status = isScim ? refusal.status : ERRORS[refusal.code].status;
  const body = {
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(status),
    ...(isScim && refusal.scimType !== null && { scimType: refusal.scimType }),
    detail: isScim ? refusal.detail : detailOf(refusal),
  };
  const headers = { 'content-type': `${SCIM_TYPE}; charset=utf-8` };
  return { status, headers, body: JSON.stringify(body) };
}
