-- Recipients of a mail who switched off news by its link, each counted once (spec 10 O2).
ALTER TABLE "mass_send_recipients" ADD COLUMN     "unsubscribed_at" TIMESTAMPTZ(3);

ALTER TABLE "mass_sends" ADD COLUMN     "unsubscribed" INTEGER NOT NULL DEFAULT 0;
