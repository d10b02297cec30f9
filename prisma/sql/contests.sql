-- Games and contests of referrers (spec 04 sections 10 and 11).

-- The templates of an installation, one for each game; only those that are missing are added, so that nothing an administrator changed is
-- written again (spec 04 sections 10.2 and 10.3). Returns the number of rows added.
--- adds the games of an installation that are missing
CREATE OR REPLACE FUNCTION seed_contest_templates() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_added integer;
BEGIN
  INSERT INTO contest_templates (slug, name, description, prize_value, max_winners, times_per_day, schedule_times, payload)
  SELECT * FROM (VALUES
    ('quest_buttons', 'Квест с кнопками', 'Найдите скрытый сервер среди узлов сети', '1', 3, 2, '10:00,18:00',
      '{"rows": 3, "cols": 3}'::jsonb),
    ('lock_hack', 'Взлом замков', 'Один из замков открыт: найдите его', '5', 1, 2, '09:00,19:00', '{"buttons": 20}'),
    ('server_lottery', 'Лотерея серверов', 'Угадайте, на каком сервере спрятан приз', '7', 1, 1, '15:00',
      '{"flags": ["🇸🇪", "🇸🇬", "🇺🇸", "🇷🇺", "🇩🇪", "🇯🇵", "🇧🇷", "🇦🇺", "🇨🇦", "🇫🇷"]}'),
    ('blitz_reaction', 'Блиц-реакция', 'Нажмите кнопку раньше других', '1', 1, 2, '11:00,21:00', '{"timeout_seconds": 10}'),
    ('letter_cipher', 'Шифр букв', 'Каждое число — номер буквы латинского алфавита', '1', 1, 2, '12:00,20:00',
      '{"words": ["VPN", "SERVER", "PROXY", "XRAY"]}'),
    ('emoji_guess', 'Угадай по эмодзи', 'Назовите сервис, который описан эмодзи', '1', 1, 1, '13:00',
      '{"pairs": [{"question": "🔐 📡 🌐", "answer": "VPN"}, {"question": "🗄 ☁ ⚙", "answer": "SERVER"},
        {"question": "🎭 ↔ 🌐", "answer": "PROXY"}]}'),
    ('anagram', 'Анаграмма', 'Составьте слово из перемешанных букв', '1', 1, 1, '17:00', '{"words": ["VPN", "SERVER", "PROXY", "XRAY"]}')
  ) AS seed
  ON CONFLICT (slug) DO NOTHING;
  GET DIAGNOSTICS v_added = ROW_COUNT;
  RETURN v_added;
END $$;

SELECT seed_contest_templates();

-- A payment for a subscription by a user who was invited is scored by a job, sent with the payment (spec 03 section 1.2, spec 04
-- section 11.2). Without a contest that is running this reads one index, which has active contests only.
--- sends the job `engagement.score-payment` while a contest runs
CREATE OR REPLACE FUNCTION send_payment_score() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM referral_contests c WHERE c.is_active AND c.closes_at >= NEW.created_at AND c.start_at <= NEW.created_at
      AND c.contest_type = 'referral_paid')
    AND EXISTS (SELECT 1 FROM users u WHERE u.id = NEW.user_id AND u.referred_by_id IS NOT NULL)
  THEN
    PERFORM send_job('engagement.score-payment', jsonb_build_object('transactionId', NEW.id));
  END IF;
  RETURN NULL;
END $$;

--- sends the job that scores a payment for a subscription in contests of referrers
CREATE OR REPLACE TRIGGER transactions_score_contests AFTER INSERT ON transactions FOR EACH ROW
  WHEN (NEW.type = 'subscription_payment' AND NEW.is_completed AND NOT NEW.is_internal) EXECUTE FUNCTION send_payment_score();

-- The registration of a referral likewise: its pending earning is written once for each pair (spec 01 section 2.3).
--- sends the job `engagement.score-registration` while a contest runs
CREATE OR REPLACE FUNCTION send_registration_score() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM referral_contests c WHERE c.is_active AND c.closes_at >= NEW.created_at AND c.start_at <= NEW.created_at
      AND c.contest_type = 'referral_registered')
  THEN
    PERFORM send_job('engagement.score-registration', jsonb_build_object('referralId', NEW.referral_id, 'at', NEW.created_at));
  END IF;
  RETURN NULL;
END $$;

--- sends the job that scores the registration of a referral in contests
CREATE OR REPLACE TRIGGER referral_earnings_score_contests AFTER INSERT ON referral_earnings FOR EACH ROW
  WHEN (NEW.reason = 'referral_registration_pending') EXECUTE FUNCTION send_registration_score();
