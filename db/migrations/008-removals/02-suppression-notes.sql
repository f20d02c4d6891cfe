-- Of a deleted contact only the hash of the address remains; notes may contain the address.
update suppressions set note = null where email is null and note is not null;
