-- The audit log is append-only for all code (spec 01 H7). Two exceptions: the foreign key clears the id of a deleted user (the row
-- keeps the name), and a transaction that sets service.audit_retention deletes rows past the retention period.
--- refuses changes of the audit log
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' THEN
    IF NEW.user_id IS NULL AND OLD.user_id IS NOT NULL
       AND to_jsonb(NEW) - 'user_id' = to_jsonb(OLD) - 'user_id'
       AND NOT EXISTS (SELECT 1 FROM users WHERE id = OLD.user_id) THEN
      RETURN NEW;
    END IF;
  ELSIF current_setting('service.audit_retention', true) = 'on' THEN
    RETURN OLD;
  END IF;
  RAISE EXCEPTION 'admin_audit_log is append-only' USING ERRCODE = 'restrict_violation';
END $$;

--- the audit log cannot be rewritten (spec 01 H7)
CREATE OR REPLACE TRIGGER admin_audit_log_append_only BEFORE UPDATE OR DELETE ON admin_audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();

--- refuses changes of the audit log's links
CREATE OR REPLACE FUNCTION refuse_audit_link_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND current_setting('service.audit_retention', true) = 'on' THEN RETURN OLD; END IF;
  RAISE EXCEPTION 'audit_links is append-only' USING ERRCODE = 'restrict_violation';
END $$;

--- links are written once and end with their entries
CREATE OR REPLACE TRIGGER audit_links_append_only BEFORE UPDATE OR DELETE ON audit_links
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_link_change();
