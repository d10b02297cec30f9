-- Met by rows of the previous release: admin_audit_log_created_at_check

-- AlterTable
ALTER TABLE "admin_roles" ADD COLUMN     "widenings" JSONB NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "user_roles" ADD COLUMN     "granted_through" JSONB NOT NULL DEFAULT '[]';

-- As far as assignments of before still show it: from whom the rights of who assigned a role came.
WITH RECURSIVE sources(assignment, id) AS (
  SELECT id, assigned_by FROM user_roles WHERE assigned_by IS NOT NULL
  UNION
  SELECT s.assignment, ur.assigned_by FROM sources s JOIN user_roles ur ON ur.user_id = s.id WHERE ur.is_active AND ur.assigned_by IS NOT NULL)
UPDATE user_roles ur SET granted_through = found.ids
FROM (SELECT assignment, jsonb_agg(id ORDER BY id) AS ids FROM sources GROUP BY assignment) found
WHERE found.assignment = ur.id;

-- A time that is no date of the calendar of clients (infinity, a year with more than four digits) has no text for the hash of the entry.
-- Entries of before stay as they are: the log is append-only.
ALTER TABLE "admin_audit_log" ADD CONSTRAINT "admin_audit_log_created_at_check"
  CHECK (created_at >= '1970-01-01Z' AND created_at < '10000-01-01Z') NOT VALID;
