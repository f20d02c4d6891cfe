-- The language that a user has chosen for the application and for mail from it. Null: that of the browser, and English in
-- mail.
alter table users add column language text;
