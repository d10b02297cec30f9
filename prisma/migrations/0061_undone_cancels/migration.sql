-- What an administrator's cancel switched off, so that an activation switches it on again (spec 10 X8).
ALTER TABLE "subscriptions" ADD COLUMN     "cancel_ended_autopay" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "cancel_paused_daily" BOOLEAN NOT NULL DEFAULT false;
