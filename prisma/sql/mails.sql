-- Queues a mail in the caller's transaction: the row, and the job that sends it. Keys of p_mail: recipient, template, subject, html, text.
--- queues a mail with its job
CREATE OR REPLACE FUNCTION queue_mail(p_mail jsonb, p_now timestamptz) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  v_id integer;
BEGIN
  INSERT INTO outgoing_mails (recipient, template, subject, html, text, created_at)
  VALUES (p_mail ->> 'recipient', p_mail ->> 'template', p_mail ->> 'subject', p_mail ->> 'html', p_mail ->> 'text', p_now)
  RETURNING id INTO v_id;
  PERFORM send_job('mail.send', jsonb_build_object('mailId', v_id));
  RETURN v_id;
END $$;
