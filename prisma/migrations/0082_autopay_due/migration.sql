-- What autopay has to look at, in the order of its end: the hourly round reads only this.
CREATE INDEX "subscriptions_autopay_end_date_idx" ON "subscriptions"("end_date", "id") WHERE "autopay_enabled";
