"""Settings of the reference project.

Everything that differs between machines comes from the environment (`docs/reference/settings.md` lists the variables);
the defaults run on one machine with nothing installed but Python: SQLite, and Celery over files in `var/`.
"""

import os
from datetime import timedelta
from pathlib import Path

from project import env, telemetry

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = Path(os.environ.get("APCORE_VAR_DIR", BASE_DIR / "var"))
VAR_DIR.mkdir(parents=True, exist_ok=True)

# -- security ---------------------------------------------------------------------------------------------------------

SECRET_KEY = env.secret_key(VAR_DIR / "secret_key")
SECRET_KEY_FALLBACKS = env.words("APCORE_SECRET_KEY_FALLBACKS")
DEBUG = env.flag("APCORE_DEBUG")
ALLOWED_HOSTS = env.words("APCORE_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("APCORE_CSRF_TRUSTED_ORIGINS")

BEHIND_HTTPS = env.flag("APCORE_HTTPS")
SESSION_COOKIE_SECURE = BEHIND_HTTPS
CSRF_COOKIE_SECURE = BEHIND_HTTPS
SECURE_SSL_REDIRECT = BEHIND_HTTPS
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = BEHIND_HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_HTTPS else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SAMESITE = "Lax"
X_FRAME_OPTIONS = "DENY"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# -- application ------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_celery_results",
    "rest_framework",
    "rest_framework.authtoken",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_apcore",
    "project.store",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_apcore.admin.busy.DatabaseBusyMiddleware",
]

ROOT_URLCONF = "project.urls"
WSGI_APPLICATION = "project.wsgi.application"
ASGI_APPLICATION = "project.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

STATIC_URL = "static/"
STATIC_ROOT = VAR_DIR / "static"
STATIC_ROOT.mkdir(exist_ok=True)  # WhiteNoise warns of a folder that is not there
WHITENOISE_USE_FINDERS = True  # static files without collectstatic, so that the demo is one command

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True

# -- data -------------------------------------------------------------------------------------------------------------

DATABASES = {"default": env.database(os.environ.get("APCORE_DATABASE_URL", ""), VAR_DIR / "db.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# -- mail -------------------------------------------------------------------------------------------------------------

EMAIL_BACKEND = "django.core.mail.backends.{}.EmailBackend".format(os.environ.get("APCORE_EMAIL", "filebased"))
EMAIL_FILE_PATH = VAR_DIR / "mail"
EMAIL_HOST = os.environ.get("APCORE_EMAIL_HOST", "localhost")
EMAIL_PORT = int(os.environ.get("APCORE_EMAIL_PORT", "25"))
DEFAULT_FROM_EMAIL = os.environ.get("APCORE_FROM_EMAIL", "store@example.com")

# -- workers ----------------------------------------------------------------------------------------------------------

CELERY_BROKER_URL = os.environ.get("APCORE_BROKER_URL", "filesystem://localhost//")
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {}
if CELERY_BROKER_URL.startswith("filesystem:"):
    QUEUE_DIR = VAR_DIR / "queue"
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "data_folder_in": str(QUEUE_DIR / "messages"),
        "data_folder_out": str(QUEUE_DIR / "messages"),
        "control_folder": str(QUEUE_DIR / "control"),
    }
    for _folder in ("messages", "control"):
        (QUEUE_DIR / _folder).mkdir(parents=True, exist_ok=True)
elif CELERY_BROKER_URL.startswith("redis"):
    # Longer than any task may take: past it Redis hands the same message out again.
    # A server that accepts and never answers would hold up whoever sends, an approver's click among them.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 12 * 60 * 60, "socket_timeout": 4}

CELERY_RESULT_BACKEND = "django-db"
CELERY_RESULT_EXTENDED = False  # arguments do not belong in the results table
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TIMEZONE = TIME_ZONE
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")
CELERY_BEAT_SCHEDULE = {
    "expire-approvals": {"task": "apcore.expire_approvals", "schedule": timedelta(minutes=1)},
    "dispatch-approved": {"task": "apcore.dispatch_approved", "schedule": timedelta(minutes=1)},
    "deliver-outbox": {"task": "apcore.deliver_outbox", "schedule": timedelta(seconds=15)},
    "keep-records": {"task": "apcore.keep_records", "schedule": timedelta(days=1)},
    "prune-usage": {"task": "apcore.prune_usage", "schedule": timedelta(days=1)},
    "deliver-webhooks": {"task": "apcore.deliver_webhooks", "schedule": timedelta(seconds=15)},
}

# -- REST -------------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "rest_framework.authentication.SessionAuthentication",
        "rest_framework.authentication.TokenAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Governed operations",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",  # the page of the API loads nothing from other hosts
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}

# -- governance -------------------------------------------------------------------------------------------------------

APCORE: dict[str, object] = {
    # What cannot happen is logged as an error if it does. In production: off.
    "INVARIANTS": os.environ.get("APCORE_INVARIANTS", "log"),
    # Shown to nobody, and not kept in clear when a preview is stored: an approver has to know whom a request is about,
    # not where they live.
    "SENSITIVE_FIELDS": [
        "auth.User.password",
        *(f"store.Customer.{name}" for name in ("phone", "fax", "address", "postal_code")),
        *(f"store.Invoice.billing_{name}" for name in ("address", "postal_code")),
    ],
    "SYS_MODULES": {"enabled": True},
    "OBSERVABILITY": {
        "tracing": {
            "enabled": telemetry.is_wanted(),
            "strategy": os.environ.get("APCORE_TRACES", "full"),
            "sampling_rate": float(os.environ.get("APCORE_TRACES_SHARE", "1.0")),
        },
        "metrics": {"enabled": True, "exporter": "prometheus"},
    },
    "METRICS_TOKEN": os.environ.get("APCORE_METRICS_TOKEN"),
}

# -- store -------------------------------------------------------------------------------------------------------------

# Where refunds are paid out: the URL of a payment provider, or of a file that keeps a book of them.
STORE_PAYMENT_GATEWAY = os.environ.get("STORE_PAYMENT_GATEWAY", (VAR_DIR / "payments.jsonl").absolute().as_uri())

# -- logging ----------------------------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        # both leave out what may not be seen (docs/howto/observe.md)
        "text": {"()": "apcore.telemetry.logs.TextFormatter"},
        "json": {"()": "apcore.telemetry.logs.JsonFormatter"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": os.environ.get("APCORE_LOG_FORMAT", "text").lower()}
    },
    "root": {"handlers": ["console"], "level": os.environ.get("APCORE_LOG_LEVEL", "INFO").upper()},
}
