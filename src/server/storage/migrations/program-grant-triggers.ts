/** As in security-event-triggers.ts. */
const LANGUAGE = 'LANGUAGE plpgsql SET enable_seqscan = off';

/**
 * Ends the grants of programs with what ends sessions at backends: these functions replace those of
 * security-event-triggers.ts, and the triggers stay. Each finds grants with the account locked.
 *
 * A sign-out by the person in the session itself, and the limit of sessions, keep the grants that
 * the session approved: their statement sets `gatehouse.keeps_grants`. An earlier version of the
 * program sets nothing, and so ends them.
 */
export const GRANT_FUNCTIONS = (sessionsEnded: string, accountEnded: string): string[] => [
  `CREATE OR REPLACE FUNCTION report_ended_sessions() RETURNS trigger ${LANGUAGE} AS $$
  BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > now()) THEN
      PERFORM FROM account
        WHERE id = ANY (ARRAY(SELECT account_id FROM ended WHERE expires_at > now()))
        ORDER BY id FOR NO KEY UPDATE;
      ${sessionsEnded}
      IF current_setting('gatehouse.keeps_grants', true) IS DISTINCT FROM 'on' THEN
        DELETE FROM program_grant
          WHERE session_id = ANY (ARRAY(SELECT id FROM ended WHERE expires_at > now()));
      END IF;
    END IF;
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION report_ended_account() RETURNS trigger ${LANGUAGE} AS $$
  BEGIN
    ${accountEnded}
    DELETE FROM program_grant WHERE account_id = OLD.id;
    RETURN OLD;
  END $$`,
  `CREATE OR REPLACE FUNCTION mark_resource_sessions_due() RETURNS trigger ${LANGUAGE} AS $$
  BEGIN
    PERFORM FROM account WHERE id = OLD.account_id FOR NO KEY UPDATE;
    UPDATE resource_session SET judge_at = now(), txn = transaction_number() WHERE account_id = OLD.account_id;
    UPDATE program_grant SET judge_at = now(), txn = transaction_number() WHERE account_id = OLD.account_id;
    RETURN NULL;
  END $$`,
  `CREATE OR REPLACE FUNCTION mark_resource_sessions_of_subject_due() RETURNS trigger ${LANGUAGE} AS $$
  DECLARE
    owner uuid;
  BEGIN
    SELECT account_id INTO owner FROM identity
      WHERE provider = NEW.provider AND subject = NEW.subject;
    PERFORM FROM account WHERE id = owner FOR NO KEY UPDATE;
    UPDATE resource_session SET judge_at = now(), txn = transaction_number() WHERE account_id = owner;
    DELETE FROM program_grant WHERE account_id = owner AND authenticated_by = NEW.provider;
    UPDATE program_grant SET judge_at = now(), txn = transaction_number() WHERE account_id = owner;
    RETURN NULL;
  END $$`,
];

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
