import type { OidcProviderSettings } from '../../src/server/config/providers-file/provider-settings.js';
import type { Breakage } from '../fakes/openid-provider.js';

export type Json = Record<string, unknown>;

export const without =
  (...names: string[]) =>
  (claims: Json): Json =>
    Object.fromEntries(Object.entries(claims).filter(([name]) => !names.includes(name)));

export const withClaims =
  (given: Json) =>
  (claims: Json): Json => ({ ...claims, ...given });

const seconds = (offset: number): number => Math.floor(Date.now() / 1000) + offset;

export interface Row {
  /** The name after `oidcc-client-test` in the certification plans, else a case. */
  readonly name: string;
  readonly breakage?: Breakage;
  readonly settings?: Partial<OidcProviderSettings>;
  readonly alg?: string;
  readonly keepOldKey?: true;
  readonly expect: 'success' | 'rejected' | 'rejected after userinfo' | 'rejected before the token';
  readonly refusal?: string;
}

export const USERINFO = { fetchUserInfo: true };

export const LOGIN_ROWS: readonly Row[] = [
  { name: '(plain)', expect: 'success' },
  { name: '-idtoken-sig-rs256', expect: 'success' },
  { name: '-client-secret-basic', expect: 'success' },
  { name: '-scope-userinfo-claims', settings: USERINFO, expect: 'success' },
  {
    name: '-kid-absent-single-jwks',
    breakage: { header: ({ alg }) => ({ alg }) },
    expect: 'success',
  },
  { name: ' ES256 signature', alg: 'ES256', expect: 'success' },
  { name: '-discovery-openid-config', expect: 'success' },
  { name: '-discovery-jwks-uri-keys', expect: 'success' },
  {
    name: '-invalid-iss',
    breakage: { claims: withClaims({ iss: 'https://evil.example' }) },
    expect: 'rejected',
  },
  { name: '-missing-sub', breakage: { claims: without('sub') }, expect: 'rejected' },
  {
    name: '-invalid-aud',
    breakage: { claims: withClaims({ aud: 'another' }) },
    expect: 'rejected',
  },
  { name: '-missing-aud', breakage: { claims: without('aud') }, expect: 'rejected' },
  { name: '-missing-iat', breakage: { claims: without('iat') }, expect: 'rejected' },
  {
    name: '-nonce-invalid',
    breakage: { claims: withClaims({ nonce: 'another' }) },
    expect: 'rejected',
  },
  { name: '-invalid-sig-rs256', breakage: { signature: 'flipped' }, expect: 'rejected' },
  {
    name: '-invalid-sig-es256',
    alg: 'ES256',
    breakage: { signature: 'flipped' },
    expect: 'rejected',
  },
  { name: '-invalid-sig-hs256', breakage: { signature: 'hs256' }, expect: 'rejected' },
  {
    name: '-userinfo-invalid-sub',
    breakage: { userInfo: withClaims({ sub: 'another' }) },
    expect: 'rejected after userinfo',
  },
  {
    name: '-kid-absent-multiple-jwks',
    keepOldKey: true,
    breakage: { header: ({ alg }) => ({ alg }) },
    expect: 'rejected',
  },
  { name: '-idtoken-sig-none', breakage: { signature: 'none' }, expect: 'rejected' },
  {
    name: '-signing-key-rotation-just-before-signing',
    breakage: { beforeSigning: (provider) => provider.rotateKeys() },
    expect: 'success',
  },
  {
    name: '-discovery-issuer-mismatch',
    breakage: { discovery: withClaims({ issuer: 'https://evil.example' }) },
    expect: 'rejected before the token',
    refusal: 'upstream_error',
  },
  {
    name: '-distributed-claims (groups elsewhere, no call there)',
    breakage: {
      claims: withClaims({
        _claim_names: { groups: 'src1' },
        _claim_sources: { src1: { endpoint: 'http://127.0.0.1:1/groups' } },
      }),
    },
    expect: 'success',
  },
  { name: ' missing nonce', breakage: { claims: without('nonce') }, expect: 'rejected' },
  { name: ' missing exp', breakage: { claims: without('exp') }, expect: 'rejected' },
  { name: ' no claims at all', breakage: { claims: () => ({}) }, expect: 'rejected' },
  {
    name: ' foreign key under a known kid',
    breakage: { signature: 'foreign-key' },
    expect: 'rejected',
  },
  {
    name: ' unknown crit',
    breakage: { header: (header) => ({ ...header, 'x-unknown': 1, crit: ['x-unknown'] }) },
    expect: 'rejected',
  },
  {
    name: ' secondary audience',
    breakage: { claims: withClaims({ aud: ['gatehouse', 'other'], azp: 'gatehouse' }) },
    expect: 'rejected',
  },
  { name: ' foreign azp', breakage: { claims: withClaims({ azp: 'other' }) }, expect: 'rejected' },
  {
    name: ' wrong at_hash',
    breakage: { claims: withClaims({ at_hash: 'AAAAAAAAAAAAAAAAAAAAAA' }) },
    expect: 'rejected',
  },
  { name: ' empty sub', breakage: { claims: withClaims({ sub: '' }) }, expect: 'rejected' },
  { name: ' numeric sub', breakage: { claims: withClaims({ sub: 7 }) }, expect: 'rejected' },
  { name: ' no ID token', breakage: { tokenAnswer: without('id_token') }, expect: 'rejected' },
  {
    name: ' response without iss (RFC 9207)',
    breakage: { callback: (parameters) => parameters.delete('iss') },
    expect: 'rejected before the token',
  },
  {
    name: ' response of another issuer (RFC 9207)',
    breakage: { callback: (parameters) => parameters.set('iss', 'https://evil.example') },
    expect: 'rejected before the token',
  },
  {
    name: ' state missing',
    breakage: { callback: (parameters) => parameters.delete('state') },
    expect: 'rejected before the token',
  },
  {
    name: ' state invalid',
    breakage: { callback: (parameters) => parameters.set('state', 'another') },
    expect: 'rejected before the token',
  },
  {
    name: ' state twice',
    breakage: { callback: (parameters) => parameters.append('state', 'another') },
    expect: 'rejected before the token',
  },
  {
    name: ' the person says no',
    breakage: {
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', 'access_denied');
      },
    },
    expect: 'rejected before the token',
    refusal: 'access_denied',
  },
  {
    name: ' a denial of another issuer (RFC 9207)',
    breakage: {
      callback: (parameters) => {
        parameters.delete('code');
        parameters.set('error', 'access_denied');
        parameters.set('iss', 'https://evil.example');
      },
    },
    expect: 'rejected before the token',
  },
];

/** The times depend on the moment the token is issued, so these rows are no values of the table. */
export const TIME_ROWS: readonly (readonly [string, () => Json])[] = [
  ['expired', () => ({ exp: seconds(-60) })],
  ['iat a week ago', () => ({ iat: seconds(-7 * 86_400) })],
  ['iat in an hour', () => ({ iat: seconds(3600) })],
  ['nbf in an hour', () => ({ nbf: seconds(3600) })],
  ['exp as a text', () => ({ exp: String(seconds(300)) })],
];
