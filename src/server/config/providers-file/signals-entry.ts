import {
  flag,
  optionalChoice,
  optionalNumber,
  optionalObject,
  optionalText,
  section,
  secureUrl,
  text,
  url,
} from './entry-schema.js';
import { TOKEN_ENDPOINT_AUTH_METHODS } from './provider-settings.js';

/** The field `signals` of an entry of the providers file. */
export const SIGNALS = section(
  'Signals with which the provider or its directory reports leavers.',
  {
    scim: optionalObject(
      'Accepts SCIM 2.0 requests of a directory at `/v1/scim/<id>/v2`, to end the access of leavers at once.',
      {
        token: optionalText('Bearer token of the directory. Either this or tokenFile is needed.'),
        tokenFile: optionalText(
          'File with the bearer token of the directory, at least 32 characters, relative to the providers file. During a rotation it has two, one a line. A change applies without a restart.',
        ),
        match: optionalChoice(
          ['externalId', 'oid', 'userName', 'email'],
          'Attribute of SCIM that names an identity: `externalId` is the subject, with `oid` it is the object id of Microsoft Entra ID, `userName` is the login and `email` the verified e-mail address.',
          'externalId',
        ),
        required: flag(
          'Refuses people that the directory does not show as active. Without effect until it has shown one.',
        ),
        deactivationAlarm: optionalNumber(
          { min: 1, max: 100 },
          'Percentage of the people whose deactivation within an hour raises an alarm, at least 20 people.',
          10,
        ),
      },
    ),
    sharedSignals: optionalObject(
      'Accepts security events (OpenID Shared Signals Framework 1.0) at `/v1/signals/<id>`.',
      {
        transmitter: secureUrl(
          'Issuer of the events. Its `/.well-known/ssf-configuration` names its keys.',
        ),
        audience: optionalText('Audience of the events. Default: SERVICE_PUBLIC_URL.'),
        delivery: optionalChoice(
          ['push', 'poll'],
          'Delivery of the events: the transmitter pushes them (RFC 8935), or this server polls for them (RFC 8936), which needs no way in from outside.',
          'push',
        ),
        pushToken: optionalText(
          'Bearer token that the transmitter sends with its requests. Without it and pushTokenFile, the signature of each event is the only proof.',
        ),
        pushTokenFile: optionalText(
          'File with that token, at least 32 characters, relative to the providers file. During a rotation it has two, one a line. A change applies without a restart.',
        ),
        managementToken: optionalText(
          "Bearer token for the transmitter's API, with which this server makes and polls the stream.",
        ),
        managementTokenFile: optionalText(
          'File with that token, relative to the providers file. During a rotation it has two, one a line, of which the last is sent. A change applies without a restart.',
        ),
        managementClient: optionalObject(
          'OAuth client that gets tokens for the same API by itself (client credentials), in place of managementTokenFile.',
          {
            tokenUrl: secureUrl('Token endpoint of the authorization server.'),
            clientId: text('Client id.'),
            clientSecret: optionalText('Client secret. Either this or clientSecretFile is needed.'),
            clientSecretFile: optionalText(
              'File with the client secret, relative to the providers file. During a rotation it has two, one a line, of which the last is sent. A change applies without a restart.',
            ),
            tokenEndpointAuthMethod: optionalChoice(
              TOKEN_ENDPOINT_AUTH_METHODS,
              'How the client secret is sent.',
              'client_secret_basic',
            ),
            scope: optionalText('Scope to ask for.', 'ssf.manage ssf.read'),
          },
        ),
        riskEvents: optionalChoice(
          ['count', 'end-sessions'],
          'Effect of events about the risk or assurance of a person, or the compliance of a device: they are counted, or end the sessions.',
          'count',
        ),
      },
    ),
    globalTokenRevocation: optionalObject(
      'Accepts universal logout (Global Token Revocation) at `/v1/signals/<id>/global-token-revocation`. Needs SERVICE_PUBLIC_URL.',
      {
        issuer: url(
          'Issuer (iss) of the tokens of the requests, such as the address of the Okta organization.',
        ),
        subject: text('Subject (sub) of these tokens: the id of the sending application.'),
        jwksUri: secureUrl('Address of the public keys (JWK set) that verify these tokens.'),
      },
    ),
  },
);
