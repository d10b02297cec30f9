-- The three initial templates of an installation (spec 04 section 9.1). Does nothing when a template exists; administrators edit
-- templates and cannot delete them. Returns the number of rows added.
--- adds the three first templates where there is none
CREATE OR REPLACE FUNCTION seed_promo_offer_templates() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_added integer;
BEGIN
  INSERT INTO promo_offer_templates
    (offer_type, name, message_text, button_text, valid_hours, discount_percent, active_discount_hours, test_duration_hours)
  SELECT * FROM (VALUES
    ('test_access', 'Пробный доступ',
      E'<b>Попробуйте новые серверы</b>\n\nНа {test_duration_hours} ч откроем вам {server_name} без доплаты. Предложение действует {valid_hours} ч.',
      'Попробовать', 24, 0, NULL::integer, 24),
    ('extend_discount', 'Скидка на продление',
      E'<b>Продлите подписку со скидкой {discount_percent}%</b>\n\nЗаберите скидку в течение {valid_hours} ч, после этого она действует ещё {active_discount_hours} ч.',
      'Забрать скидку', 24, 20, 24, NULL),
    ('purchase_discount', 'Скидка на покупку',
      E'<b>Скидка {discount_percent}% на подписку</b>\n\nЗаберите скидку в течение {valid_hours} ч, после этого она действует ещё {active_discount_hours} ч.',
      'Забрать скидку', 48, 25, 48, NULL)) AS seed
  WHERE NOT EXISTS (SELECT 1 FROM promo_offer_templates);
  GET DIAGNOSTICS v_added = ROW_COUNT;
  RETURN v_added;
END $$;

SELECT seed_promo_offer_templates();
