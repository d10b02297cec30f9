-- CreateTable
CREATE TABLE "disposable_email_domains" (
    "domain" VARCHAR(253) NOT NULL,

    CONSTRAINT "disposable_email_domains_pkey" PRIMARY KEY ("domain")
);

ALTER TABLE disposable_email_domains ADD CONSTRAINT disposable_email_domains_lower_case CHECK (domain = lower(domain));
