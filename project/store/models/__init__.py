from project.store.models.catalogue import Album, Artist, Genre, MediaType, Playlist, PlaylistTrack, Track
from project.store.models.people import Customer, Employee
from project.store.models.sales import AccountingTotal, Invoice, InvoiceLine, Refund

__all__ = [
    "AccountingTotal",
    "Album",
    "Artist",
    "Customer",
    "Employee",
    "Genre",
    "Invoice",
    "InvoiceLine",
    "MediaType",
    "Playlist",
    "PlaylistTrack",
    "Refund",
    "Track",
]
