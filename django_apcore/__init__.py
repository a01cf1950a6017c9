"""apcore for Django: governed modules, approvals of measured effects, and an audit trail."""
