import { markDue } from './security-event-triggers.js';

/**
 * Ends the grants of programs with what ends sessions at backends: the functions of
 * security-event-triggers.ts are replaced, and the triggers stay. Each finds grants with the account locked.
 *
 * A sign-out by the person in the session itself, and the limit of sessions, keep the grants that
 * the session approved: their statement sets `gatehouse.keeps_grants`. An earlier version of the
 * program sets nothing, and so ends them.
 */
export const GRANT_STATEMENTS = {
  sessionsEnded: `
    IF current_setting('gatehouse.keeps_grants', true) IS DISTINCT FROM 'on' THEN
      DELETE FROM program_grant
        WHERE session_id = ANY (ARRAY(SELECT id FROM ended WHERE expires_at > now()));
    END IF;`,
  accountEnded: 'DELETE FROM program_grant WHERE account_id = OLD.id;',
  identityChanged: markDue('program_grant', 'OLD.account_id'),
  subjectRefused: `
    DELETE FROM program_grant WHERE account_id = owner AND authenticated_by = NEW.provider;
    ${markDue('program_grant', 'owner')}`,
};

const REPORT = (code: string, from: string): string => `
  INSERT INTO security_event (id, resource_server, at, sid, account_id, code, txn)
  SELECT gen_random_uuid(), resource_server, clock_timestamp(), sid, account_id, ${code},
    COALESCE(txn, transaction_number())
  FROM ${from} AS gone WHERE sid IS NOT NULL AND expires_at > now();`;

/** Whatever deletes a grant, or ends its session at the backend, reports it. */
export const GRANT_TRIGGERS = [
  `CREATE FUNCTION report_ended_grants() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    ${REPORT('refusal', 'ended')}
    RETURN NULL;
  END $$`,
  `CREATE FUNCTION report_lapsed_grant() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    ${REPORT('NEW.refusal', '(SELECT OLD.*)')}
    RETURN NULL;
  END $$`,
  `CREATE TRIGGER program_grant_ended AFTER DELETE ON program_grant
  REFERENCING OLD TABLE AS ended FOR EACH STATEMENT EXECUTE FUNCTION report_ended_grants()`,
  `CREATE TRIGGER program_grant_lapsed AFTER UPDATE OF sid ON program_grant FOR EACH ROW
  WHEN (OLD.sid IS NOT NULL AND OLD.sid IS DISTINCT FROM NEW.sid)
  EXECUTE FUNCTION report_lapsed_grant()`,
];
