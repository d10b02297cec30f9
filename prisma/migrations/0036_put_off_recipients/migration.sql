-- Recipients whom the mail server puts off come again when nobody else waits.
CREATE INDEX mass_send_recipients_put_off ON mass_send_recipients (send_id, user_id) WHERE state = 'put_off';
