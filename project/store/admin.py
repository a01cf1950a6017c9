from django.contrib import admin
from django.http import HttpRequest

from project.store import models


@admin.register(models.Artist, models.Genre, models.MediaType)
class NameAdmin(admin.ModelAdmin):
    list_display = ["name"]
    search_fields = ["name"]


@admin.register(models.Album)
class AlbumAdmin(admin.ModelAdmin):
    list_display = ["title", "artist"]
    list_select_related = ["artist"]
    search_fields = ["title", "artist__name"]
    autocomplete_fields = ["artist"]


@admin.register(models.Track)
class TrackAdmin(admin.ModelAdmin):
    list_display = ["name", "album", "genre", "unit_price"]
    list_select_related = ["album", "genre"]
    list_filter = ["genre"]
    search_fields = ["name", "album__title", "composer"]
    autocomplete_fields = ["album", "genre", "media_type"]


@admin.register(models.Playlist)
class PlaylistAdmin(admin.ModelAdmin):
    list_display = ["name", "pk"]
    search_fields = ["name"]


@admin.register(models.Employee)
class EmployeeAdmin(admin.ModelAdmin):
    list_display = ["last_name", "first_name", "title", "email"]
    search_fields = ["last_name", "first_name", "email"]
    autocomplete_fields = ["reports_to"]


@admin.register(models.Customer)
class CustomerAdmin(admin.ModelAdmin):
    list_display = ["last_name", "first_name", "email", "country", "erased_at"]
    list_filter = ["country"]
    search_fields = ["last_name", "first_name", "email"]
    autocomplete_fields = ["support_rep"]
    readonly_fields = ["contacted_at", "erased_at"]


class InvoiceLineInline(admin.TabularInline):
    model = models.InvoiceLine
    autocomplete_fields = ["track"]
    extra = 0


@admin.register(models.Invoice)
class InvoiceAdmin(admin.ModelAdmin):
    list_display = ["pk", "customer", "issued_on", "billing_country", "total"]
    list_select_related = ["customer"]
    date_hierarchy = "issued_on"
    search_fields = ["customer__last_name", "customer__email", "billing_city"]
    autocomplete_fields = ["customer"]
    inlines = [InvoiceLineInline]


class ReadOnlyAdmin(admin.ModelAdmin):
    """Rows that operations write; nobody edits money by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(models.Refund)
class RefundAdmin(ReadOnlyAdmin):
    list_display = ["invoice", "amount", "reason", "gateway_reference", "created_at"]
    list_select_related = ["invoice"]


@admin.register(models.AccountingTotal)
class AccountingTotalAdmin(ReadOnlyAdmin):
    list_display = ["month", "invoices", "revenue", "refunded"]
    date_hierarchy = "month"
