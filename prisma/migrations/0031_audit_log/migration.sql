-- Filters of the audit log keep its order among millions of rows (spec 01 sections 14 and 19 H24).
CREATE INDEX "admin_audit_log_action_created_at_id_idx" ON "admin_audit_log"("action", "created_at" DESC, "id" DESC);
CREATE INDEX "admin_audit_log_resource_type_created_at_id_idx" ON "admin_audit_log"("resource_type", "created_at" DESC, "id" DESC);
CREATE INDEX "admin_audit_log_status_created_at_id_idx" ON "admin_audit_log"("status", "created_at" DESC, "id" DESC);

-- Append-only, whatever code runs (spec 01 H7). Two exceptions: the foreign key takes away the id of a user who is gone (the row
-- keeps the name), and rows past the retention that the operator set are deleted by a transaction that says so.
CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE TRIGGER admin_audit_log_append_only BEFORE UPDATE OR DELETE ON admin_audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
