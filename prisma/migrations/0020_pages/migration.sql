-- CreateTable
CREATE TABLE "legal_documents" (
    "id" SERIAL NOT NULL,
    "kind" VARCHAR(20) NOT NULL,
    "language" VARCHAR(10) NOT NULL,
    "content" TEXT NOT NULL,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "legal_documents_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "faq_pages" (
    "id" SERIAL NOT NULL,
    "language" VARCHAR(10) NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "content" TEXT NOT NULL,
    "display_order" INTEGER NOT NULL DEFAULT 0,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "faq_pages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "faq_settings" (
    "language" VARCHAR(10) NOT NULL,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "faq_settings_pkey" PRIMARY KEY ("language")
);

-- CreateTable
CREATE TABLE "service_rules" (
    "id" SERIAL NOT NULL,
    "language" VARCHAR(10) NOT NULL,
    "title" VARCHAR(255) NOT NULL,
    "content" TEXT NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "service_rules_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "main_menu_buttons" (
    "id" SERIAL NOT NULL,
    "text" VARCHAR(64) NOT NULL,
    "action_type" VARCHAR(20) NOT NULL,
    "action_value" VARCHAR(1024) NOT NULL,
    "visibility" VARCHAR(20) NOT NULL DEFAULT 'all',
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "display_order" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "main_menu_buttons_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "user_messages" (
    "id" SERIAL NOT NULL,
    "message_text" TEXT NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "sort_order" INTEGER NOT NULL DEFAULT 0,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "user_messages_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "welcome_texts" (
    "id" SERIAL NOT NULL,
    "text" TEXT NOT NULL,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "is_enabled" BOOLEAN NOT NULL DEFAULT true,
    "created_by" INTEGER,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "welcome_texts_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "legal_documents_kind_language_key" ON "legal_documents"("kind", "language");

-- CreateIndex
CREATE INDEX "faq_pages_language_display_order_id_idx" ON "faq_pages"("language", "display_order", "id");

-- CreateIndex
CREATE INDEX "service_rules_language_created_at_id_idx" ON "service_rules"("language", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "main_menu_buttons_display_order_id_idx" ON "main_menu_buttons"("display_order", "id");

-- CreateIndex
CREATE INDEX "user_messages_created_at_id_idx" ON "user_messages"("created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "user_messages_created_by_idx" ON "user_messages"("created_by");

-- CreateIndex
CREATE INDEX "welcome_texts_updated_at_id_idx" ON "welcome_texts"("updated_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "welcome_texts_created_by_idx" ON "welcome_texts"("created_by");

-- AddForeignKey
ALTER TABLE "user_messages" ADD CONSTRAINT "user_messages_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "welcome_texts" ADD CONSTRAINT "welcome_texts_created_by_fkey" FOREIGN KEY ("created_by") REFERENCES "users"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- What must be true whatever the code does (spec 05 sections 5 and 6): one active version of the rules in a language, one active welcome text.
CREATE UNIQUE INDEX service_rules_one_active ON service_rules (language) WHERE is_active;
CREATE UNIQUE INDEX welcome_texts_one_active ON welcome_texts ((true)) WHERE is_active;

ALTER TABLE "legal_documents" ADD CONSTRAINT legal_documents_kind_known CHECK (kind IN ('public_offer', 'privacy_policy'));
ALTER TABLE "faq_pages" ADD CONSTRAINT faq_pages_order CHECK (display_order >= 0);
ALTER TABLE "main_menu_buttons"
  ADD CONSTRAINT main_menu_buttons_words CHECK (action_type IN ('url', 'mini_app') AND visibility IN ('all', 'admins', 'subscribers')),
  ADD CONSTRAINT main_menu_buttons_order CHECK (display_order >= 0),
  ADD CONSTRAINT main_menu_buttons_address CHECK (action_value ~* CASE action_type WHEN 'mini_app' THEN '^https://' ELSE '^https?://' END);
ALTER TABLE "user_messages" ADD CONSTRAINT user_messages_order CHECK (sort_order >= 0);
